-- EXTEND of each KEYS[i], if it is ARGV[i + 1], to ARGV[1] ms. In front of a value that others may share the key with
-- stand its mode and a space.
-- Returns a letter for each: 1 set, 0 missing, - foreign, ? unknown. An error before anything was written is the answer
-- for all of them, since all would meet it.
local node_time

-- A vote in a set (rule 9.3): the key ends no earlier than it. Nothing but the first write can fail for want of
-- memory, and that needs none.
local function extend_vote(key, vote)
  if not node_time then
    @CLOCK@
    node_time = now
  end
  local mode, ends = vote:sub(1, 1), node_time + ARGV[1]
  local score = redis.pcall('ZSCORE', key, vote)
  if type(score) == 'table' then
    return string.find(score.err, '^WRONGTYPE') and '-' or score
  elseif not score or tonumber(score) < node_time then
    return (mode == 'x' or redis.call('ZSCORE', key, '@x')) and '-' or '0'
  end
  local last = redis.pcall('ZRANGE', key, -1, -1, 'WITHSCORES')[2] or 0
  local left = string.format('%.0f', math.max(last, ends) - node_time + 1)
  local set = redis.pcall('PEXPIRE', key, left)
  if type(set) == 'table' then
    return set
  end
  ends = string.format('%.0f', ends)
  set = redis.pcall('ZADD', key, ends, vote)
  if mode ~= 'r' and type(set) ~= 'table' then
    set = redis.pcall('ZADD', key, ends, '@' .. mode)
  end
  return type(set) == 'table' and '?' or '1'
end

local function extend(key, token)
  local shared = token:match('^[ru] (.*)$')
  local value = redis.pcall('GET', key)
  if not value then
    return '0'
  elseif value == (shared or token) then
    local set = redis.pcall('PEXPIRE', key, ARGV[1])
    return type(set) == 'table' and set or tostring(set)
  elseif type(value) ~= 'table' then
    return '-'
  elseif not string.find(value.err, '^WRONGTYPE') then
    return value
  end
  return extend_vote(key, shared and token or 'x ' .. token)
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
  written = written or letter == '1' or letter == '?'
  letters[i] = letter
end
return table.concat(letters)
