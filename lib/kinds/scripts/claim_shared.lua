-- CLAIM of a vote that others may share (rule 9.5): respects those who wait.
-- KEYS: as in ENTRIES. ARGV: value, ttl ms, mode, proposed number (0: not fenced), counter's idle ttl ms, the value whose
-- vote this one is to replace or '': that one has the key already, and waits for nobody
-- {1, counter}: the vote is there, {0, PTTL, counter, 1 if somebody has the key and 2 if others wait for it}. The
-- counter is 0 without fencing.
-- Mostly nobody has the key and nobody waits for it: the same as below, in the fewest commands.
if ARGV[3] ~= 'x' and ARGV[4] == '0' and ARGV[6] == '' and redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
  local time = redis.call('TIME')
  local ends = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2])
  if ARGV[3] == 'r' then
    redis.call('ZADD', KEYS[1], ends, 'r ' .. ARGV[1])
  else
    redis.call('ZADD', KEYS[1], ends, 'u ' .. ARGV[1], ends, '@u')
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[2] + 1)
  return {1, 0}
end
@JOIN_READERS@
if ARGV[3] == 'r' and ARGV[4] == '0' and ARGV[6] == '' and join_readers(ARGV[1], tonumber(ARGV[2])) then
  return {1, 0}
end
@ENTRIES@
@VOTES@
@GRANT_WAITERS@
local me, mode, replaced = ARGV[1], ARGV[3], ARGV[6]
local fenced = ARGV[4] ~= '0'
if fenced and not counter(KEYS[4]) then
  return no_counter
end
look()
if strange then
  return {0, redis.call('PTTL', KEYS[1]), 0, 1}
end
local failed = replaced ~= '' and weaken_replaced(replaced)
if failed then
  return failed
end
local own, ends = vote_of(me)
local granted = grant_waiters(me)
local admitted = admits(mode, replaced)
local rival = replaced == '' and rival_of(mode)
if not own and (rival or not admitted) then
  if granted > 0 then
    set_end()
  end
  return {0, redis.call('PTTL', KEYS[1]), fenced and counter(KEYS[4]) or 0, admitted and 2 or 1}
end
local count = (mode == 'x' and count_up or read_counter)(ARGV[4], ARGV[5])
ends = math.max(ends or 0, now + ARGV[2])
if own then
  renew(own, me, ends)
else
  vote(mode, me, ends)
end
set_end()
return {1, tonumber(count)}
