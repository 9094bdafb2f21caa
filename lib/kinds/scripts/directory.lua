-- Part of ENQUEUE_PERMIT and RELEASE_PERMIT: the semaphore's waiters, in the queues of all of its slots. KEYS[6] is a
-- sorted set: value -> ticket; KEYS[7] a hash: value -> end of the lease (node time, ms), home slot, number of slots,
-- latest notification (node time, ms), channel; and '@told', when somebody was last told of a slot that had been
-- taken (node time, ms). Nothing here matters for safety.
local function listed(entry)
  local ends, home, limit, notified, channel =
    string.match(type(entry) == 'string' and entry or '', '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  return tonumber(ends), home, tonumber(limit), tonumber(notified), channel
end

-- Whoever has the slot waits no more, no more than who leaves: a notification to it would be lost for those who do.
local function unlist(...)
  if redis.pcall('HDEL', KEYS[7], ...) ~= 0 then
    redis.pcall('ZREM', KEYS[6], ...)
  end
end

local slot = KEYS[1]:match('%d+$')
