-- Compare and delete: KEYS[1] if it is ARGV[1]. 1: deleted, 0: missing, -1: foreign.
local value = redis.call('GET', KEYS[1])
if value == ARGV[1] then
  return redis.call('DEL', KEYS[1])
elseif value then
  return -1
end
return 0
