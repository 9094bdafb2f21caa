-- Part of GRANT_WAITERS: the number of this master for the fencing token of a shared vote (rule 8.6), recorded; '0':
-- not fenced, or there is no counter. Such a vote does not count: the counter is lifted to the proposal, which is the
-- same for all who propose at about one time.
local read
local function read_counter(proposal, idle)
  local count = proposal ~= '0' and (read or counter(KEYS[4]))
  if not count then
    return '0'
  end
  local lifted = math.max(count, allowed(proposal))
  if lifted ~= read then
    read = lifted
    redis.call('SET', KEYS[4], whole(read), 'PX', idle)
  end
  return whole(read)
end
