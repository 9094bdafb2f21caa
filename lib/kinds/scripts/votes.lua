-- Part of the scripts that know shared votes, behind ENTRIES (rules 9.1, 9.2 and 9.3): the votes of KEYS[1].
-- The key is absent; or a string, the value of an exclusive vote; or a sorted set of votes with their ends (node time,
-- ms): 'r VALUE', 'u VALUE', 'x VALUE', and '@u' or '@x' beside a u or an x. A vote is alive while now <= its end.
-- The key itself ends no earlier than the last vote. Anything else is somebody else's key.
-- What look() finds: the string; how many members there are; the ends of '@u' and '@x'; or an error: not our key.
local holder, members, marks, strange = false, 0, {}, nil

-- Dead votes are removed first.
local function look()
  local first = redis.pcall('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if first.err then
    holder = redis.pcall('GET', KEYS[1])
    strange = type(holder) == 'table' and holder or nil
  elseif first[1] and not (first[1]:find('^[rux] ') or first[1]:find('^@[ux]$')) then
    strange = redis.pcall('GET', KEYS[1])
  elseif first[1] then
    if tonumber(first[2]) < now then
      redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. whole(now))
    end
    members = redis.call('ZCARD', KEYS[1])
    for _, mode in ipairs({'u', 'x'}) do
      marks[mode] = members > 1 and redis.call('ZSCORE', KEYS[1], '@' .. mode)
    end
  end
end

-- The mode of a value's vote, and its end in a set; nil: it has none.
local function vote_of(value)
  if holder then
    return holder == value and 'x' or nil
  end
  for mode in (members > 0 and 'rux' or ''):gmatch('.') do
    local ends = (mode == 'r' or marks[mode]) and redis.call('ZSCORE', KEYS[1], mode .. ' ' .. value)
    if ends then
      return mode, tonumber(ends)
    end
  end
end

-- Would a vote in this mode agree with all the others? `replaced`: '', or a value whose vote does not count, since the
-- new one is to take its place. One exclusive vote does not replace another, since both would have the same '@x': this
-- master has not been told yet that the old one is weaker.
local function admits(mode, replaced)
  if holder then
    return false
  end
  local own = replaced ~= '' and vote_of(replaced)
  if marks.x and own ~= 'x' or mode ~= 'x' and members >= 100000 then
    return false
  elseif mode == 'r' then
    return true
  elseif mode == 'u' then
    return not marks.u
  elseif own == 'x' then
    return false
  end
  return members == (own == 'r' and 1 or own and 2 or 0)
end

-- Adds the words for ZADD of a vote to a list.
local function add_vote(list, mode, value, ends)
  list[#list + 1], list[#list + 2] = whole(ends), mode .. ' ' .. value
  if mode ~= 'r' then
    list[#list + 1], list[#list + 2] = whole(ends), '@' .. mode
    marks[mode] = ends
  end
end

-- A vote that is admitted. An exclusive one that nobody shares is a string.
local function vote(mode, value, ends)
  if mode == 'x' and members == 0 then
    redis.call('SET', KEYS[1], value, 'PX', whole(ends - now))
    holder = value
    return
  end
  local words = {}
  add_vote(words, mode, value, ends)
  members = members + #words / 2
  redis.call('ZADD', KEYS[1], unpack(words))
end

-- The key of a set ends with its last vote, or at `least` if that is later.
local function set_end(least)
  local last = not holder and redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if last and last[1] then
    redis.call('PEXPIRE', KEYS[1], whole(math.max(tonumber(last[2]), least or 0) - now + 1))
  end
end

-- Sets the end of a vote that is there. The first write needs no memory.
local function renew(mode, value, ends)
  if holder then
    redis.call('PEXPIRE', KEYS[1], whole(ends - now))
    return
  end
  set_end(ends)
  local words = {}
  add_vote(words, mode, value, ends)
  redis.call('ZADD', KEYS[1], unpack(words))
end

-- Removes a vote from the set.
local function remove(mode, value)
  redis.call('ZREM', KEYS[1], mode .. ' ' .. value)
  members = members - 1
  if mode ~= 'r' then
    redis.call('ZREM', KEYS[1], '@' .. mode)
    members, marks[mode] = members - 1, nil
  end
end

-- Beside an exclusive vote there is nothing but the upgradeable one that it has replaced, whose release is on its way.
-- Two of these would have one '@u'.
local function remove_replaced()
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, 3)) do
    if member:find('^u ') then
      remove('u', member:sub(3))
    end
  end
end

-- Changes a vote to a weaker mode. What cannot be stored as a set stays as it was, or the vote would be gone though its
-- holder counts it: then an error is returned.
local function weaken(own, mode, value, ends)
  if not holder then
    set_end(ends)
    if mode == 'u' then
      remove_replaced()
    end
    vote(mode, value, ends)
    remove(own, value)
    return
  end
  local words = {}
  redis.call('DEL', KEYS[1])
  holder = false
  add_vote(words, mode, value, ends)
  local done = redis.pcall('ZADD', KEYS[1], unpack(words))
  if type(done) == 'table' then
    redis.call('SET', KEYS[1], value, 'PX', whole(ends - now))
    return done
  end
  members = #words / 2
  set_end()
end

-- A vote that is to be replaced is an upgradeable one, which this master may not have been told yet.
local function weaken_replaced(value)
  local own, ends = vote_of(value)
  if own == 'x' then
    return weaken(own, 'u', value, ends or now + redis.call('PTTL', KEYS[1]))
  end
end
