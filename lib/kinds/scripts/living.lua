-- Part of the scripts that enter the wait queue, behind ENTRIES: which waiters are alive.
-- What is left of a waiter's lease; an entry that does not count is dropped.
local function living(value, entry)
  local ends, lease, inc = string.match(entry or '', '^(%d+) %d+ (%d+) (%S+)')
  if not ends then
    ends, lease, inc = string.match(entry or '', with_mode)
  end
  local left = left_of(ends, lease, inc)
  if not left then
    redis.call('ZREM', KEYS[2], value)
    redis.call('HDEL', KEYS[3], value)
  end
  return left
end

-- Looks at n entries, so that dead ones do not pile up behind a long hold.
local function sweep(from, n)
  local others = redis.call('ZRANGE', KEYS[2], from, from + n - 1)
  local entries = redis.call('HMGET', KEYS[3], unpack(others))
  for i, other in ipairs(others) do
    living(other, entries[i])
  end
end
