-- Part of every script that looks at the counter of the fencing tokens (rule 8.1).
-- What to answer where counter() finds none.
local no_counter = {err = 'FOREIGN redlock:fence'}

-- The counter at this key; nil: it cannot be read, is no number, or is used up. Lua's numbers are exact below 2 ^ 53,
-- so that count + 1 still is.
local function counter(key)
  local text = redis.pcall('GET', key) or '0'
  if type(text) == 'table' and not text.err:find('WRONGTYPE', 1, true) then
    no_counter = text
  end
  local count = type(text) == 'string' and text:match('^%d+$') and tonumber(text)
  return count and count < 2 ^ 53 and count or nil
end
