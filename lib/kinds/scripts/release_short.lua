-- RELEASE in its short form, where nobody is known to wait: deletes KEYS[1], if it is ARGV[1]. KEYS[2] is the queue;
-- of a permit, KEYS[3] is the list of those who wait for any slot.
-- Returns 1: deleted, 0: missing, -1: foreign. If somebody waits, that one is not told, and it returns 4: deleted,
-- 3: nothing was done. A value that shares the key with others is left, too: 3.
-- Where the queue's name is taken by something else, or may not be looked at, there is no queue.
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' then
  if not value.err:find('^WRONGTYPE') then
    return value
  end
  @FIND_VOTE@
  local ends = find_vote(ARGV[1])
  if ends then
    return type(ends) == 'table' and ends or 3
  end
end
local foreign = value and value ~= ARGV[1]
local waiting = redis.pcall('ZCARD', KEYS[2])
local none = waiting == 0 or type(waiting) == 'table'
if none and KEYS[3] then
  waiting = redis.pcall('ZCARD', KEYS[3])
  none = waiting == 0 or type(waiting) == 'table'
end
if foreign and (none or type(redis.pcall('ZSCORE', KEYS[2], ARGV[1])) ~= 'string' and
    (not KEYS[3] or type(redis.pcall('ZSCORE', KEYS[3], ARGV[1])) ~= 'string')) then
  return -1
end
local deleted = value and not foreign and redis.call('DEL', KEYS[1]) or 0
return none and deleted or deleted + 3
