-- Part of the scripts that know shared votes, behind VOTES: gives a vote to every waiter whose turn it is (rule 9.5).
-- KEYS: as in ENTRIES. An entry may begin with a word: 'r', 'u', or 'x^VALUE' for a vote that is to replace VALUE's.
local function parts_of(entry)
  local mode, replaced, rest = entry:match('^(%a)%^?(%S*) (.*)$')
  return mode or 'x', replaced or '', (rest or entry):match(parts)
end

@READ_COUNTER@

-- Entries that stay: the first one, the first u, and the first x, behind which nobody is looked at.
local stays = {}

-- What is in front of an entry of this mode and conflicts with it.
local function rival_of(mode)
  return mode == 'x' and stays.any or mode == 'u' and stays.u or stays.x
end

-- In the order of tickets, as far as 128 entries and 64 votes. Behind a holder that shares with nobody only some are
-- looked at, of which it may have to know. `me` needs no message. Returns how many votes it has
-- given, and whether one of them to `me`. The set's end is left to set_end().
local function grant_waiters(me)
  local values = redis.pcall('ZRANGE', KEYS[2], 0, holder and 3 or 127)
  local entries = values[1] and redis.pcall('HMGET', KEYS[3], unpack(values)) or {}
  local gone, votes, told, granted, mine, shared = {}, {}, {}, 0, false, members > 0
  for i, value in ipairs(entries.err and {} or values) do
    local mode, replaced, ends, round, lease, inc, proposal, idle, channel = parts_of(entries[i] or '')
    local left = left_of(ends, lease, inc)
    if left and shared and vote_of(value) then
      left = nil -- a repair has given it a vote, which may last longer than the lease
    end
    if left and (rival_of(mode) or not admits(mode, replaced)) then
      stays.any = stays.any or value
      stays[mode] = stays[mode] or value
    elseif left and granted == 64 then
      tell(channel, value, 0, 'look', '-', 0)
      stays.any = stays.any or value
      break
    else
      gone[#gone + 1] = value
    end
    if left and gone[#gone] == value then
      local number = mode == 'x' and count_up(proposal, idle) or read_counter(proposal, idle)
      granted = granted + 1
      mine = mine or value == me
      told[granted] = {channel, value, round, 'granted', inc, number}
      if mode == 'x' and members == 0 then
        redis.call('HSET', KEYS[3], '@holder', value .. ' ' .. redis.call('ZSCORE', KEYS[2], value) .. ' ' .. channel)
        vote(mode, value, now + left + 1)
      else
        add_vote(votes, mode, value, now + left + 1)
        members = members + (mode == 'r' and 1 or 2)
      end
    end
    if stays.x then
      break
    end
  end
  if gone[1] then
    redis.call('ZREM', KEYS[2], unpack(gone))
    redis.call('HDEL', KEYS[3], unpack(gone))
  end
  if votes[1] then
    redis.call('ZADD', KEYS[1], unpack(votes))
  end
  for _, words in ipairs(told) do
    if words[2] ~= me then
      tell(unpack(words))
    end
  end
  return granted, mine
end
