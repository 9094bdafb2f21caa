-- RELEASE (protocol 2.3, 6.2): ARGV[1] leaves the wait queue and, if the key is ARGV[1], hands it off or deletes it.
-- Returns 1: deleted, 2: handed off, 0: missing, -1: foreign.
-- The short form has the first two keys only, as long as nobody is known to wait. If somebody waits, that one is not
-- told, and it returns 4: deleted, 3: nothing was done.
-- Where the queue's names are taken by something else, or may not be looked at, there is no queue; a release works
-- all the same.
local value = redis.call('GET', KEYS[1])
local foreign = value and value ~= ARGV[1]
if not KEYS[3] then
  local waiting = redis.pcall('ZCARD', KEYS[2])
  local none = waiting == 0 or type(waiting) == 'table'
  if foreign and (none or not redis.call('ZSCORE', KEYS[2], ARGV[1])) then
    return -1
  end
  local deleted = value and not foreign and redis.call('DEL', KEYS[1]) or 0
  return none and deleted or deleted + 3
end
local left = redis.pcall('HDEL', KEYS[3], ARGV[1])
local failed = type(left) == 'table'
if left == 1 then
  redis.pcall('ZREM', KEYS[2], ARGV[1])
end
if foreign then
  -- A master that refuses may still have the value in its wait queue.
  return failed and not left.err:find('WRONGTYPE', 1, true) and left or -1
end
local head = failed and {} or redis.pcall('ZPOPMIN', KEYS[2])
if not head[1] then
  if redis.pcall('ZCARD', KEYS[2]) == 0 then
    redis.call('DEL', KEYS[3])
  end
  return redis.call('DEL', KEYS[1])
end
@HAND_OFF@
local successor = hand_off(head)
if not successor then
  redis.call('DEL', KEYS[1], KEYS[3])
end
return not value and 0 or successor and 2 or 1
