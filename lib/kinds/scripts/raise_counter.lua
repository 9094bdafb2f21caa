-- Part of the scripts that lift the counter of the fencing tokens, behind COUNTER.
-- Lifts the counter at this key to a number. False: it cannot be read as a number.
local function raise_counter(key, number, idle)
  local count = counter(key)
  if not count then
    return false
  end
  redis.call('SET', key, string.format('%.0f', math.max(count, tonumber(number))), 'PX', idle)
  return true
end
