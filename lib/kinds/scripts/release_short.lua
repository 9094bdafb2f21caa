-- RELEASE in its short form, where nobody is known to wait: deletes each key, if it has its value. ARGV: the values.
-- KEYS: for each value its key, the queue, and, of a permit, the list of those who wait for any slot.
-- Returns 1: deleted, 0: missing, -1: foreign. If somebody waits, that one is not told, and it returns 4: deleted,
-- 3: nothing was done. A value that shares the key with others is left, too: 3. Of several values a letter for each,
-- which is - in place of -1, and ? where it is an error.
-- Where the queue's name is taken by something else, or may not be looked at, there is no queue.
@FIND_VOTE@

local function has_none(queue)
  local waiting = redis.pcall('ZCARD', queue)
  return waiting == 0 or type(waiting) == 'table'
end

local function waits(queue, me)
  return type(redis.pcall('ZSCORE', queue, me)) == 'string'
end

local function release(me, key, queue, list)
  local value = redis.pcall('GET', key)
  if type(value) == 'table' then
    if not value.err:find('^WRONGTYPE') then
      return value
    end
    local ends = find_vote(key, me)
    if ends then
      return type(ends) == 'table' and ends or 3
    end
  end
  local foreign = value and value ~= me
  local none = has_none(queue) and (not list or has_none(list))
  if foreign and (none or not waits(queue, me) and not (list and waits(list, me))) then
    return -1
  end
  local deleted = value and not foreign and redis.pcall('DEL', key) or 0
  return (none or type(deleted) == 'table') and deleted or deleted + 3
end

if #ARGV == 1 then
  return release(ARGV[1], KEYS[1], KEYS[2], KEYS[3])
end
local each, letters = #KEYS / #ARGV, {}
for i, value in ipairs(ARGV) do
  local at = (i - 1) * each
  local answer = release(value, KEYS[at + 1], KEYS[at + 2], each == 3 and KEYS[at + 3])
  letters[i] = type(answer) == 'table' and '?' or answer == -1 and '-' or answer
end
return table.concat(letters)
