-- RAISE (rule 8.3): lift the counter to a fencing token, if the token's value has its vote.
-- KEYS: key, counter of the fencing tokens
-- ARGV: value, token, counter's idle ttl ms
-- 1: the counter is the token or more, 0: missing, -1: foreign.
@COUNTER@
@RAISE_COUNTER@
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' and not value.err:find('^WRONGTYPE') then
  return value
elseif type(value) == 'table' then
  @CLOCK@
  @FIND_VOTE@
  local ends = find_vote(KEYS[1], ARGV[1])
  if type(ends) == 'string' and tonumber(ends) >= now then
    value = ARGV[1]
  end
end
if value ~= ARGV[1] then
  return value and -1 or 0
end
if not raise_counter(KEYS[2], ARGV[2], ARGV[3]) then
  return no_counter
end
return 1
