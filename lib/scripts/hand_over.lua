-- Part of ENQUEUE and RELEASE (protocol 6.2): whose turn it is, and giving him the key.
-- KEYS: key, queue (a sorted set: value -> ticket), waiters (a hash: value -> entry), fencing counter, marker
-- An entry: end of its lease (node time, ms), round, lease (ms), incarnation or '-', proposal for the fencing counter
-- or 0, the counter's idle ttl (ms), channel. Beside the entries the hash has '@last', the largest ticket; '@sweep';
-- and '@holder': the value that got the key from the queue, its ticket, its channel.
local time = redis.call('TIME')
local now_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now = math.floor(now_us / 1000)
local memory

local function whole(number)
  return string.format('%.0f', number)
end

-- The marker's incarnation, read once.
local function incarnation()
  memory = memory or redis.pcall('HGET', KEYS[5], 'inc')
  return memory
end

-- The entry of a waiter whose lease, made in this very memory, has not ended. Others are dropped, and what has so much
-- left that the clock must have been set back.
local function living(value)
  local entry = redis.call('HGET', KEYS[3], value) or ''
  local ends, round, lease, inc, proposal, idle, channel = entry:match('^(%d+) (%d+) (%d+) (%S+) (%d+) (%d+) (.*)$')
  local left = ends and ends - now or 0
  if left > 0 and left <= 2 * lease and (inc == '-' or inc == incarnation()) then
    return {left = math.min(left, tonumber(lease)), round = round, inc = inc, proposal = tonumber(proposal),
      idle = idle, channel = channel}
  end
  redis.call('ZREM', KEYS[2], value)
  redis.call('HDEL', KEYS[3], value)
end

-- The lowest ticket of a living waiter, its value and entry.
local function first_in_line()
  while true do
    local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    local entry = head[1] and living(head[1])
    if entry or not head[1] then
      return tonumber(head[2]), head[1], entry
    end
  end
end

-- The counter of the fencing tokens; nil: not a number that can be counted on.
local function counter()
  local text = redis.pcall('GET', KEYS[4]) or '0'
  local count = type(text) == 'string' and text:match('^%d+$') and tonumber(text)
  return count and count < 2 ^ 53 and count
end

local function tell(channel, value, round, what, inc, count)
  redis.pcall('PUBLISH', channel, table.concat({value, round, what, inc, whole(now_us), whole(count)}, ' '))
end

-- The next fencing token of this master (protocol 4.1), recorded; 0: not fenced, or not to be counted.
local function count_up(entry)
  local count = entry.proposal > 0 and counter()
  if not count then
    return 0
  end
  count = math.max(count + 1, math.min(entry.proposal, now_us + 86400000000))
  redis.call('SET', KEYS[4], whole(count), 'PX', entry.idle)
  return count
end

-- Nobody has the key, or its holder gives it up: it goes to the first in line until his lease ends, so that a dead
-- waiter costs no more than that. Answers the value that has it now, or nil; `me` needs no message.
local function hand_over(me)
  local ticket, value, entry = first_in_line()
  if not value then
    return nil
  end
  local count = count_up(entry)
  redis.call('ZREM', KEYS[2], value)
  redis.call('HDEL', KEYS[3], value)
  redis.call('HSET', KEYS[3], '@holder', value .. ' ' .. whole(ticket) .. ' ' .. entry.channel)
  -- One more, since both times were rounded down: the vote's bound is the lease counted from the sending.
  redis.call('SET', KEYS[1], value, 'PX', whole(entry.left + 1))
  if value ~= me then
    tell(entry.channel, value, entry.round, 'granted', entry.inc, count)
  end
  return value
end
