-- A guard for Redis and Valkey; tools/fencing/README.md says what it is for. One script checks the token, records it,
-- and carries the write out:
--
--     redis-cli EVAL "$(cat redis.lua)" 2 fence:{orders} orders:{orders} 1700000000000001 HSET state paid
--
-- KEYS: the largest token so far, and the key that is guarded. ARGV: the token, the command, and what follows its key.
-- The first key must live as long as the second: no EXPIRE, and no eviction (maxmemory-policy noeviction, or volatile
-- ones). In a cluster both are in one slot. A server that restarts or fails over without its latest writes has
-- forgotten tokens, too.
--
-- Tokens are compared as text: numbers of Lua are exact up to 2^53 only.
local token = ARGV[1]
if not token:match('^[1-9]%d*$') then
  return redis.error_reply('FENCE a write has no fencing token')
end
local last = redis.call('GET', KEYS[1]) or ''
if #token < #last or #token == #last and token < last then
  return redis.error_reply('FENCE late write: ' .. token .. ' is older than ' .. last)
end
redis.call('SET', KEYS[1], token)
return redis.call(ARGV[2], KEYS[2], unpack(ARGV, 3))
