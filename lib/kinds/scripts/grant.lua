-- GRANT (rule 8.1): set a value if nobody has the key, and count.
-- KEYS: key, counter of the fencing tokens
-- ARGV: value, ttl ms, proposed number (NUMBER or NUMBER+LEAD), counter's idle ttl ms
-- {1, counter}: set, {0, PTTL, counter}: the key is there already.
@COUNTER@
local count = counter(KEYS[2])
if not count then
  return no_counter
end
if redis.call('EXISTS', KEYS[1]) == 1 then
  return {0, redis.call('PTTL', KEYS[1]), count}
end
@CLOCK@
@MOST@
count = math.max(count + 1, allowed(ARGV[3]))
-- The counter first: if the second write fails the key is as it was, and a number left out does no harm.
redis.call('SET', KEYS[2], string.format('%.0f', count), 'PX', ARGV[4])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, count}
