-- RAISE (protocol 4.2): lift the counter to a fencing token, if KEYS[1] is still the token's value.
-- KEYS: key, counter of the fencing tokens
-- ARGV: value, token, counter's idle ttl ms
-- 1: the counter is the token or more, 0: missing, -1: foreign.
@COUNTER@
local value = redis.call('GET', KEYS[1])
if value ~= ARGV[1] then
  return value and -1 or 0
end
local count = counter(KEYS[2])
if not count then
  return redis.error_reply(no_counter)
end
count = math.max(count, tonumber(ARGV[2]))
redis.call('SET', KEYS[2], string.format('%.0f', count), 'PX', ARGV[3])
return 1
