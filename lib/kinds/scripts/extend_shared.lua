-- EXTEND of a vote that others may share (family 2.4, 3.2).
-- KEYS: the key; or those of ENTRIES, where the vote may be stronger than the claim's mode: then it is made as weak,
-- and waiters are let in. ARGV: value, ttl ms, mode
-- Returns 1: set, 0: missing, -1: foreign.
@ENTRIES@
@VOTES@
@GRANT_WAITERS@
local me, mode, ends = ARGV[1], ARGV[3], now + ARGV[2]
local strength = {r = 1, u = 2, x = 3}

-- What cannot be stored as a set stays as it was, or this vote would be gone though its holder counts it.
local function make_shared()
  redis.call('DEL', KEYS[1])
  holder = false
  local words = {}
  add_vote(words, mode, me, ends)
  local done = redis.pcall('ZADD', KEYS[1], unpack(words))
  if type(done) == 'table' then
    redis.call('SET', KEYS[1], me, 'PX', ARGV[2])
    return done
  end
  members = #words / 2
end

look()
if strange then
  return -1
end
local own = vote_of(me)
if not own then
  return (holder or marks.x or mode == 'x' and members > 0) and -1 or 0
elseif strength[mode] >= strength[own] then
  renew(own, me, ends)
elseif holder then
  local failed = make_shared()
  if failed then
    return failed
  end
else
  set_end(ends)
  vote(mode, me, ends)
  remove(own, me)
end
if KEYS[2] then
  grant_waiters(me)
end
set_end()
return 1
