-- RELEASE (protocol 2.3, 6.2): ARGV[1] leaves the queue and, if the key is ARGV[1], hands it over or deletes it.
-- 1: deleted, 2: handed over, 0: missing, -1: foreign. With the first two keys only, as long as nobody is known to wait;
-- if somebody does, he is not told: 4: deleted, 3: nothing was done.
local value = redis.call('GET', KEYS[1])
local foreign = value and value ~= ARGV[1]
-- Where the queue's names are taken by something else there is no queue, and no harm to who releases.
local waiting = redis.pcall('ZCARD', KEYS[2])
local none = waiting == 0 or type(waiting) == 'table'
if foreign and (none or not redis.call('ZSCORE', KEYS[2], ARGV[1])) then
  return -1
end
if not none and not KEYS[3] then
  return value and not foreign and redis.call('DEL', KEYS[1]) + 3 or 3
end
local place = not none and redis.pcall('HGET', KEYS[3], ARGV[1])
if none or type(place) == 'table' then
  if not value or foreign then
    return foreign and -1 or 0
  end
  redis.call('DEL', KEYS[1])
  if waiting == 0 and KEYS[3] then
    redis.call('DEL', KEYS[3])
  end
  return 1
end
@HAND_OVER@
if place then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('HDEL', KEYS[3], ARGV[1])
end
if foreign then
  return -1
end
local heir = hand_over()
if not heir then
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
end
return not value and 0 or heir and 2 or 1
