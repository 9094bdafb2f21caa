-- Part of CLAIM_SHARED and ENQUEUE_SHARED (rule 9.5): a reader joins others, and nobody waits. It does what VOTES and
-- GRANT_WAITERS would do, in the fewest commands; whatever is unusual is left to them.
-- Returns the node time (us) and the PTTL of the key; nil: nothing has been done.
local function join_readers(value, ttl)
  local first = redis.call('EXISTS', KEYS[2]) == 0 and redis.pcall('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if not first or first.err or not (first[1] or ''):find('^[ru] ') then
    return
  end
  @CLOCK@
  if tonumber(first[2]) < now or redis.call('ZSCORE', KEYS[1], '@x') or redis.call('ZCARD', KEYS[1]) >= 100000 then
    return
  end
  -- The value may have a vote that is stronger, or ends later: this command may have been held up on its way.
  if redis.call('ZSCORE', KEYS[1], 'r ' .. value) or redis.call('ZSCORE', KEYS[1], 'u ' .. value) then
    return
  end
  redis.call('ZADD', KEYS[1], string.format('%.0f', now + ttl), 'r ' .. value)
  local pttl = redis.call('PTTL', KEYS[1])
  if pttl <= ttl then
    pttl = ttl + 1
    redis.call('PEXPIRE', KEYS[1], pttl)
  end
  return now_us, pttl
end
