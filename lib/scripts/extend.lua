-- Compare and set the ttl. KEYS[1]: the lock's key. ARGV[1]: the value of this attempt. ARGV[2]: ttl in ms.
-- 1: set; 0: no such key; -1: the key has another value. Never creates the key.
local value = redis.call('GET', KEYS[1])
if value == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
elseif value then
  return -1
end
return 0
