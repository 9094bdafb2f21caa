-- EXTEND of a vote that others may share (rules 9.4 and 9.7).
-- KEYS: the key; or those of ENTRIES, where the vote may be stronger than the claim's mode: then it is made as weak,
-- and waiters are let in. ARGV: value, ttl ms, mode
-- Returns 1: set, 0: missing, -1: foreign.
@ENTRIES@
@VOTES@
@GRANT_WAITERS@
local me, mode, ends = ARGV[1], ARGV[3], now + ARGV[2]
local strength = {r = 1, u = 2, x = 3}

look()
if strange then
  return -1
end
local own = vote_of(me)
if not own then
  return (holder or marks.x or mode == 'x' and members > 0) and -1 or 0
elseif strength[mode] >= strength[own] then
  renew(own, me, ends)
else
  local failed = weaken(own, mode, me, ends)
  if failed then
    return failed
  end
end
if KEYS[2] then
  grant_waiters(me)
end
set_end()
return 1
