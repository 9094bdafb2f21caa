-- Part of every script that looks at a wait queue (rule 7.1): entries, numbers, notifications.
-- KEYS: key, queue (a sorted set: value -> ticket), waiters (a hash: value -> entry), fencing counter, marker
-- An entry: end of its lease (node time, ms), round, lease (ms), incarnation or '-', proposal for the fencing counter
-- (NUMBER or NUMBER+LEAD) or 0, the counter's idle ttl (ms), channel. The entry of a waiter that does not want the key
-- for itself alone begins with a word for its mode (GRANT_WAITERS). Beside the entries the hash has '@last', the largest ticket; '@sweep';
-- '@holder': the value that got the key from the queue, its ticket, its channel; and '@modes': until then (node time,
-- ms) there may be entries with a mode.
-- All waiters wait for this script: each command, each function made and each number printed counts.
@CLOCK@
@MOST@
local memory

local function whole(number)
  return string.format('%.0f', number)
end

-- The marker's incarnation, read once.
local function incarnation()
  memory = memory or redis.pcall('HGET', KEYS[5], 'inc')
  return memory
end

-- What is left of a waiter's lease. Nil: the entry does not count, since its lease has ended, or so much is left that
-- the clock must have been set back, or it was made in another memory.
local function left_of(ends, lease, inc)
  local left = ends and ends - now or 0
  if left > 0 and left <= 2 * lease and (inc == '-' or inc == incarnation()) then
    return math.min(left, lease)
  end
end

-- The parts of an entry, without the word for its mode.
local parts = '^(%d+) (%d+) (%d+) (%S+) ([%d+]+) (%d+) (.*)$'

-- The end of the lease, the lease and the incarnation of an entry that begins with a word for its mode.
local with_mode = '^%a%S* (%d+) %d+ (%d+) (%S+)'

@COUNTER@

-- The next number of this master for a fencing token (rule 8.1), recorded; 0: not fenced, or there is no counter.
local function count_up(proposal, idle)
  local count = proposal ~= '0' and counter(KEYS[4])
  if not count then
    return '0'
  end
  count = whole(math.max(count + 1, allowed(proposal)))
  redis.call('SET', KEYS[4], count, 'PX', idle)
  return count
end

local function tell(channel, value, round, what, inc, count)
  redis.pcall('PUBLISH', channel,
    value .. ' ' .. round .. ' ' .. what .. ' ' .. inc .. ' ' .. whole(now_us) .. ' ' .. count)
end

-- One ms more, since both times were rounded down: the vote's bound is the lease, counted from the sending.
local function give(value, left)
  redis.call('SET', KEYS[1], value, 'PX', string.format('%d', left + 1))
end
