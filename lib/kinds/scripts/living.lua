-- Part of ENQUEUE and REFRESH_MANY, behind HAND_OFF: which waiters are alive.
-- What is left of a waiter's lease; an entry that does not count is dropped.
local function living(value, entry)
  local left = left_of(string.match(entry or '', '^(%d+) %d+ (%d+) (%S+)'))
  if not left then
    redis.call('ZREM', KEYS[2], value)
    redis.call('HDEL', KEYS[3], value)
  end
  return left
end
