-- RELEASE of a permit: of its slot as of a mutex; then one of the semaphore's waiters is told (rule 10.3).
-- KEYS: as for RELEASE; those of DIRECTORY. ARGV: value
-- Returns what RELEASE does.
@DIRECTORY@
local function release()
@RELEASE@
end

local released, read_us, successor = release()
unlist(ARGV[1], successor or ARGV[1])
if type(released) == 'table' or released == -1 then
  return released
end
local time = not read_us and redis.call('TIME')
local now_us = read_us or time[1] * 1000000 + time[2]
local now = math.floor(now_us / 1000)

-- The waiter with the lowest ticket, of the first eight, that is in another slot's queue and has not been told for a
-- while. Those whose leases have ended are dropped.
local function next_to_tell()
  for _, value in ipairs(redis.pcall('ZRANGE', KEYS[6], 0, 7)) do
    local ends, home, limit, notified, channel = listed(redis.pcall('HGET', KEYS[7], value))
    if not ends or ends <= now then
      redis.pcall('ZREM', KEYS[6], value)
      redis.pcall('HDEL', KEYS[7], value)
    elseif home ~= slot and tonumber(slot) < limit and math.abs(now - notified) >= 100 then
      return value, {string.format('%.0f', ends), home, limit, string.format('%.0f', now), channel}
    end
  end
end

-- The ticket of the waiter that has the slot now. 0: somebody has it whose ticket is not known. Infinite: nobody.
local function ticket_of_holder()
  local holder = redis.pcall('GET', KEYS[1])
  if not holder then
    return math.huge
  end
  local note = redis.pcall('HGET', KEYS[3], '@holder')
  local value, ticket = string.match(type(note) == 'string' and note or '', '^(%S+) (%d+)')
  return value == holder and tonumber(ticket) or 0
end

-- Who moves to a slot that has just been taken is the next one there. Moving again with each release would cost more
-- than it brings.
local told = successor and tonumber(redis.pcall('HGET', KEYS[7], '@told') or 0)
if told and math.abs(now - told) < 100 then
  return released
end
local value, entry = next_to_tell()
local taken_by = ticket_of_holder()
if value and tonumber(redis.call('ZSCORE', KEYS[6], value)) < taken_by then
  redis.call('HSET', KEYS[7], value, table.concat(entry, ' '))
  if successor then
    redis.pcall('HSET', KEYS[7], '@told', string.format('%.0f', now))
  end
  redis.pcall('PUBLISH', entry[5], value .. ' 0 look - ' .. string.format('%.0f', now_us) .. ' ' .. slot)
end
return released
