-- EXTEND of each KEYS[i], if it is ARGV[i + 1], to ARGV[1] ms.
-- Returns a letter for each: 1 set, 0 missing, - foreign, ? unknown. An error before anything was written is the answer
-- for all of them, since all would meet it.
local function extend(key, token)
  local value = redis.pcall('GET', key)
  if not value then
    return '0'
  elseif value == token then
    local set = redis.pcall('PEXPIRE', key, ARGV[1])
    return type(set) == 'table' and set or tostring(set)
  elseif type(value) == 'table' and not string.find(value.err, '^WRONGTYPE') then
    return value
  end
  return '-'
end

local letters = {}
local written = false
for i, key in ipairs(KEYS) do
  local letter = extend(key, ARGV[i + 1])
  if type(letter) == 'table' then
    if not written then
      return letter
    end
    letter = '?'
  end
  written = written or letter == '1'
  letters[i] = letter
end
return table.concat(letters)
