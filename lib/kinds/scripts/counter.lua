-- Part of every script that looks at the counter of the fencing tokens (protocol 4).
-- The counter at this key; nil: it is no number, or is used up. Lua's numbers are exact below 2 ^ 53, so that count +
-- 1 still is.
local function counter(key)
  local text = redis.pcall('GET', key) or '0'
  local count = type(text) == 'string' and text:match('^%d+$') and tonumber(text)
  return count and count < 2 ^ 53 and count or nil
end

local no_counter = 'ERR the counter of the fencing tokens is not readable or not a number'
