-- EXTEND (rule 4.1): sets the ttl of KEYS[1], if it is ARGV[1], to ARGV[2] ms.
-- Returns 1: set, 0: missing, -1: foreign.
local value = redis.call('GET', KEYS[1])
if value == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
elseif value then
  return -1
end
return 0
