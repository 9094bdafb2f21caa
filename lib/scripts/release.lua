-- Compare and delete. KEYS[1]: the lock's key. ARGV[1]: the value of this attempt.
-- 1: deleted; 0: no such key; -1: the key has another value.
local value = redis.call('GET', KEYS[1])
if value == ARGV[1] then
  return redis.call('DEL', KEYS[1])
elseif value then
  return -1
end
return 0
