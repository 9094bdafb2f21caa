-- LOOK (rule 14.2): what this master knows of a key. It changes nothing.
-- KEYS: as in ENTRIES.
-- Returns {form of the key: absent, string, set or foreign; its PTTL; the fencing counter; the number of votes; the
-- length of the wait queue; votes; waiters; incarnation or ''}. At most 100 votes are listed, those that end last, and
-- the first 16 waiters: 'MODE LEFT SIZE VALUE' and 'MODE LEFT TICKET SIZE VALUE', one behind the other. LEFT is in ms,
-- -1: without end. SIZE is that of VALUE in bytes, of which at most 128 are shown.
@ENTRIES@
local votes, waiters = {}, {}
local n_votes, n_waiting = 0, 0

local function cut(value)
  value = value:sub(1, 128)
  return #value .. ' ' .. value
end

-- The string, the set's members with their ends, and what else the key may be.
local function form_of_key()
  local holder = redis.pcall('GET', KEYS[1])
  if not holder then
    return 'absent'
  elseif type(holder) == 'string' then
    n_votes = 1
    votes[1] = 'x ' .. redis.call('PTTL', KEYS[1]) .. ' ' .. cut(holder)
    return 'string'
  end
  local members = redis.pcall('ZRANGE', KEYS[1], -102, -1, 'WITHSCORES')
  if members.err or not (members[1]:find('^[rux] ') or members[1]:find('^@[ux]$')) then
    return 'foreign'
  end
  local listed, marks = 0, 0
  for at = #members - 1, 1, -2 do
    local member, left = members[at], members[at + 1] - now
    if left >= 0 and member:sub(1, 1) == '@' then
      marks = marks + 1
    elseif left >= 0 and listed < 100 then
      listed = listed + 1
      votes[listed] = member:sub(1, 1) .. ' ' .. whole(left) .. ' ' .. cut(member:sub(3))
    end
  end
  -- Dead members, which stand in front, are not told from living ones where not all can be listed.
  n_votes = listed == 100 and redis.call('ZCARD', KEYS[1]) - marks or listed
  return listed > 0 and 'set' or 'absent'
end

local function list_waiters()
  local queue = redis.pcall('ZRANGE', KEYS[2], 0, 15, 'WITHSCORES')
  if queue.err or not queue[1] then
    return
  end
  n_waiting = redis.call('ZCARD', KEYS[2])
  for at = 1, #queue, 2 do
    local entry = redis.pcall('HGET', KEYS[3], queue[at])
    entry = type(entry) == 'string' and entry or ''
    local mode, rest = entry:match('^([rux])%S* (.*)$')
    local ends, lease, inc = (rest or entry):match('^(%d+) %d+ (%d+) (%S+)')
    local left = left_of(ends, lease, inc)
    if left then
      waiters[#waiters + 1] = (mode or 'x') .. ' ' .. whole(left) .. ' ' .. queue[at + 1] .. ' ' .. cut(queue[at])
    else
      n_waiting = n_waiting - 1
    end
  end
end

local form = form_of_key()
list_waiters()
local mine = incarnation()
return {form, redis.call('PTTL', KEYS[1]), counter(KEYS[4]) or 0, n_votes, n_waiting, table.concat(votes),
  table.concat(waiters), type(mine) == 'string' and mine or ''}
