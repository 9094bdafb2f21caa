-- RELEASE (rules 3.4 and 7.2): ARGV[1] leaves the wait queue and, if it has the key, hands it off or deletes it; a
-- value that shares the key gives up its vote.
-- Returns 1: deleted, 2: handed off, 0: missing, -1: foreign. RELEASE_PERMIT goes on with what follows that: the time,
-- if it was read, and the value that has the key now, if it came from the queue.
-- Where the queue's names are taken by something else, or may not be looked at, there is no queue; a release works
-- all the same.
local value = redis.pcall('GET', KEYS[1])
local shared = type(value) == 'table'
if shared and not value.err:find('^WRONGTYPE') then
  return value
end
-- A reader leaves others, and nobody waits.
if shared and redis.pcall('EXISTS', KEYS[2]) == 0 and redis.pcall('ZREM', KEYS[1], 'r ' .. ARGV[1]) == 1 then
  return 1
end
local left = redis.pcall('HDEL', KEYS[3], ARGV[1])
local failed, was_first = type(left) == 'table', false
if left == 1 then
  was_first = redis.pcall('ZRANK', KEYS[2], ARGV[1]) == 0
  redis.pcall('ZREM', KEYS[2], ARGV[1])
end
local foreign = value and not shared and value ~= ARGV[1]
if foreign and not was_first then
  -- A master that refuses may still have the value in its wait queue.
  return failed and not left.err:find('WRONGTYPE', 1, true) and left or -1
end
local head = (failed or shared or foreign) and {} or redis.pcall('ZPOPMIN', KEYS[2])
if not head[1] and not shared and not foreign then
  if not failed and redis.pcall('ZCARD', KEYS[2]) == 0 then
    redis.call('DEL', KEYS[3])
  end
  return redis.call('DEL', KEYS[1])
end
@HAND_OFF@

-- Who becomes the first of the queue, since the one in front has left it, meant to look again when that one's lease
-- ends, or at its next refresh, after a quarter of its own lease. It is told if the key's end comes before that.
local tell_first = was_first and function()
  local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  local entry = (first and redis.call('HGET', KEYS[3], first) or ''):gsub('^%a%S* ', '')
  local ends, lease, channel = entry:match('^(%d+) %d+ (%d+) %S+ %d+ %d+ (.*)$')
  local pttl = redis.call('PTTL', KEYS[1])
  if ends and pttl >= 0 and now + pttl < ends - lease * 3 / 4 then
    tell(channel, first, 0, 'first', '-', 0)
  end
end

if foreign then
  tell_first()
  return -1
end
if not shared then
  local successor, has_mode = hand_off(head)
  if not has_mode then
    if not successor then
      redis.call('DEL', KEYS[1], KEYS[3])
    end
    return not value and 0 or successor and 2 or 1, now_us, successor
  end
  redis.call('DEL', KEYS[1])
end
-- The key has votes that are shared, or is about to get some.
@VOTES@
@GRANT_WAITERS@
if shared then
  look()
  if strange then
    return strange
  end
  value = vote_of(ARGV[1])
  if value then
    remove(value, ARGV[1])
  end
end
local granted = grant_waiters()
set_end()
if was_first then
  tell_first()
end
return not value and 0 or granted > 0 and 2 or 1
