-- CLAIM of a permit: sets the value of a slot if nobody has it; otherwise says which other slots are free.
-- KEYS: the slot's key, its counter of fencing tokens; then the key and the wait queue of each other slot
-- ARGV: value, ttl ms, proposed number (0: not fenced), the counter's idle ttl ms
-- {1, counter, 0}: set, {0, PTTL, counter, mask}: somebody has the key. The counter is 0 without fencing.
@FREE_SLOTS@
local function grant()
@GRANT@
end
if ARGV[3] == '0' then
  if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return {1, 0, 0}
  end
  return {0, redis.call('PTTL', KEYS[1]), 0, free_slots(3)}
end
local answer = grant()
if not answer.err then
  answer[#answer + 1] = answer[1] == 0 and free_slots(3) or 0
end
return answer
