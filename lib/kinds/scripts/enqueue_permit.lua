-- ENQUEUE of a permit: enters the wait queue of a slot as a mutex does, and says which other slots are free.
-- KEYS: as for ENQUEUE; those of DIRECTORY; then the key and the wait queue of each other slot. ARGV: as for ENQUEUE,
-- of one value; the number of slots
-- Returns what ENQUEUE does, and a mask: 0 if the key is the value's now.
@FREE_SLOTS@
@DIRECTORY@
local limit = table.remove(ARGV)
local function enqueue()
@ENQUEUE@
end

-- Nobody is told of a waiter that cannot be listed, since the names are taken or may not be used.
local note = redis.pcall('HGET', KEYS[7], ARGV[1])
local answer, taker = enqueue()
if answer.err then
  return answer
end
if taker then
  unlist(taker)
end
answer[9] = answer[1] == 0 and free_slots(8) or 0
if answer[1] ~= 0 then
  return answer
end
local others = type(note) == 'table' and 100000 or redis.pcall('ZCARD', KEYS[6])
if others ~= 100000 then
  local lease, now = tonumber(ARGV[2]), math.floor(answer[2] / 1000)
  local _, _, _, notified = listed(note)
  redis.pcall('ZADD', KEYS[6], string.format('%.0f', answer[3]), ARGV[1])
  redis.pcall('HSET', KEYS[7], ARGV[1],
    string.format('%.0f %s %s %s %s', now + lease, slot, limit, notified or '0', ARGV[9]))
  -- Both end together, except that the list also ends when nobody is left.
  if others == 0 or redis.pcall('PTTL', KEYS[7]) < lease then
    redis.pcall('PEXPIRE', KEYS[6], 2 * lease)
    redis.pcall('PEXPIRE', KEYS[7], 2 * lease)
  end
end
return answer
