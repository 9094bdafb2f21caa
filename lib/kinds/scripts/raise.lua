-- RAISE (protocol 4.2): lift the counter to a fencing token, if the token's value has its vote.
-- KEYS: key, counter of the fencing tokens
-- ARGV: value, token, counter's idle ttl ms
-- 1: the counter is the token or more, 0: missing, -1: foreign.
@COUNTER@
@RAISE_COUNTER@
-- Is there a vote of this value in a set that is alive (family 2.2)?
local function is_alive(value)
  local time = redis.call('TIME')
  for mode in ('rux'):gmatch('.') do
    local ends = redis.pcall('ZSCORE', KEYS[1], mode .. ' ' .. value)
    if type(ends) == 'string' then
      return tonumber(ends) >= time[1] * 1000 + math.floor(time[2] / 1000)
    end
  end
end

local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' and not value.err:find('^WRONGTYPE') then
  return value
elseif type(value) == 'table' then
  value = is_alive(ARGV[1]) and ARGV[1] or value
end
if value ~= ARGV[1] then
  return value and -1 or 0
end
if not raise_counter(KEYS[2], ARGV[2], ARGV[3]) then
  return no_counter
end
return 1
