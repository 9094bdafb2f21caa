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

-- With each new value two other entries are due to be looked at, so that dead ones do not pile up behind a long hold:
-- sixteen in one go. `swept` are those of before, and `looks` those that are due for the values of this command.
local function sweep(swept, looks, waiting)
  if waiting < 2 or (swept + looks) % 16 >= looks then
    return
  end
  local from = swept % waiting
  local others = redis.call('ZRANGE', KEYS[2], from, from + math.max(looks, 16) - 1)
  local entries = redis.call('HMGET', KEYS[3], unpack(others))
  for i, other in ipairs(others) do
    living(other, entries[i])
  end
end
