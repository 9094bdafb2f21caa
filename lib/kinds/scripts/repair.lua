-- REPAIR (rule 4.7): set the ttl of a value anew, or the value itself where the key is missing.
-- KEYS: key, marker, [counter of the fencing tokens]
-- ARGV: value, ttl ms, incarnation expected in the marker ('' does not look), [token, counter's idle ttl ms]
-- 1: ttl set, 2: value set again, -1: foreign, -2: another memory than expected; nothing was done.
@COUNTER@
@RAISE_COUNTER@
if ARGV[3] ~= '' and redis.pcall('HGET', KEYS[2], 'inc') ~= ARGV[3] then
  return -2
end
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[1] then
  return -1
end
if KEYS[3] and not raise_counter(KEYS[3], ARGV[4], ARGV[5]) then
  return no_counter
end
-- The last write is what counts: one that fails has left the key as it was.
if value then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 2
