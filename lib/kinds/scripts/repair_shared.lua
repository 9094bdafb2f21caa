-- REPAIR of a vote that others may share (rule 9.4): sets its end anew, or the vote itself where that is missing.
-- KEYS: key, marker, [counter of the fencing tokens]
-- ARGV: value, ttl ms, incarnation expected in the marker ('' does not look), [token, counter's idle ttl ms], mode,
-- the value whose vote this one is to replace or ''
-- 1: end set, 2: vote set again, -1: foreign, -2: another memory than expected; nothing was done.
@ENTRIES@
@VOTES@
@RAISE_COUNTER@
if ARGV[3] ~= '' and redis.pcall('HGET', KEYS[2], 'inc') ~= ARGV[3] then
  return -2
end
local me, ends, mode, replaced = ARGV[1], now + ARGV[2], ARGV[#ARGV - 1], ARGV[#ARGV]
look()
local own = not strange and vote_of(me)
if strange or not own and not admits(mode, replaced) then
  return -1
end
if KEYS[3] and not raise_counter(KEYS[3], ARGV[4], ARGV[5]) then
  return no_counter
end
if own then
  renew(own, me, ends)
else
  vote(mode, me, ends)
end
set_end()
return own and 1 or 2
