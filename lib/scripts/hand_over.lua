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

-- How long the lease lasts that a waiter's entry tells of, made in this very memory. Waiters whose lease has ended are
-- dropped, and those that have so much left that the clock must have been set back.
local function living(value, entry)
  local ends, lease, inc = (entry or ''):match('^(%d+) %d+ (%d+) (%S+)')
  local left = ends and ends - now or 0
  if left > 0 and left <= 2 * lease and (inc == '-' or inc == incarnation()) then
    return math.min(left, tonumber(lease))
  end
  redis.call('ZREM', KEYS[2], value)
  redis.call('HDEL', KEYS[3], value)
end

-- The living waiter with the lowest ticket: the ticket, his value, what is left of his lease, his entry.
local function first_in_line()
  while true do
    local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    local entry = head[1] and redis.call('HGET', KEYS[3], head[1])
    local left = head[1] and living(head[1], entry)
    if left or not head[1] then
      return tonumber(head[2]), head[1], left, entry
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
local function count_up(proposal, idle)
  local count = proposal > 0 and counter()
  if not count then
    return 0
  end
  count = math.max(count + 1, math.min(proposal, now_us + 86400000000))
  redis.call('SET', KEYS[4], whole(count), 'PX', idle)
  return count
end

local function holder(value, ticket, channel)
  return value .. ' ' .. whole(ticket) .. ' ' .. channel
end

-- One more, since both times were rounded down: the vote's bound is the lease counted from the sending.
local function give(value, left)
  redis.call('SET', KEYS[1], value, 'PX', whole(left + 1))
end

-- Nobody has the key, or its holder gives it up: it goes to the first in line until his lease ends, so that a dead
-- waiter costs no more than that. Answers the value that has it now, or nil; `me` needs no message.
local function hand_over(me)
  local ticket, value, left, entry = first_in_line()
  if not value then
    return nil
  end
  local round, inc, proposal, idle, channel = entry:match('^%d+ (%d+) %d+ (%S+) (%d+) (%d+) (.*)$')
  local count = count_up(tonumber(proposal), idle)
  redis.call('ZREM', KEYS[2], value)
  redis.call('HDEL', KEYS[3], value)
  redis.call('HSET', KEYS[3], '@holder', holder(value, ticket, channel))
  give(value, left)
  if value ~= me then
    tell(channel, value, round, 'granted', inc, count)
  end
  return value
end
