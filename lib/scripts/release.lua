-- RELEASE (protocol 2.3, 6.2): ARGV[1] leaves the queue and, if the key is ARGV[1], hands it over or deletes it.
-- 1: deleted, 2: handed over, 0: missing, -1: foreign.
local value = redis.call('GET', KEYS[1])
-- Where the queue's names are taken by something else there is no queue, and no harm to who releases.
local waiting = redis.pcall('ZCARD', KEYS[2])
if waiting == 0 or type(waiting) == 'table' or type(redis.pcall('HGET', KEYS[3], '@last')) == 'table' then
  if value ~= ARGV[1] then
    return value and -1 or 0
  end
  redis.call('DEL', KEYS[1], waiting == 0 and KEYS[3] or KEYS[1])
  return 1
end
if value and value ~= ARGV[1] and not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
  return -1
end
@HAND_OVER@
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
if value and value ~= ARGV[1] then
  return -1
end
local heir = hand_over()
if not heir then
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
end
return not value and 0 or heir and 2 or 1
