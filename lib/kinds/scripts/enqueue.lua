-- ENQUEUE (rule 7.1): enters the wait queue or refreshes the entry, and takes the key if it is free and the turn
-- has come.
-- ARGV: value, lease ms, round, ticket (0: none yet), proposed ticket, incarnation expected in the marker ('' does
-- not look), proposal for the fencing counter (0: not fenced), the counter's idle ttl ms, channel. Further values
-- that have never been in the queue may follow, each with its proposal for the fencing counter.
-- Returns {1 granted | 0 queued | -2 another memory | -3 queue full, node time us, ticket, 1 if granted and a lower
-- ticket waits here, waiters in front (for a new entry dead ones count), PTTL of the key, ms after which to look
-- again or -1, fencing counter}, and with further values the number of waiters in front of the first of them; a value
-- that has 100000 in front finds the queue full. ENQUEUE_PERMIT goes on with what follows that: the value that this
-- command has given the key.
@HAND_OFF@
@LIVING@
@PLACE@

-- The entry of this value, or of a further one.
local function entry_with(proposal)
  return table.concat({whole(now + tonumber(ARGV[2])), ARGV[3], ARGV[2], ARGV[6] == '' and '-' or ARGV[6], proposal,
    ARGV[8], ARGV[9]}, ' ')
end

-- Further values follow this one with the next tickets, so the key is none of theirs yet. A command that was held up
-- on its way changes nothing for a value that has an entry by now, or the key. Returns how many are in front of them.
local function let_follow(holder, last)
  local values, places, entries = {}, {}, {}
  for at = 10, #ARGV, 2 do
    values[#values + 1] = ARGV[at]
  end
  local known, front = redis.call('HMGET', KEYS[3], unpack(values)), redis.call('ZCARD', KEYS[2])
  for i, value in ipairs(values) do
    if front + i <= 100000 and not known[i] and value ~= holder then
      local at = #places + 1
      places[at], places[at + 1] = whole(last + i), value
      entries[at], entries[at + 1] = value, entry_with(ARGV[2 * i + 9])
    end
  end
  if places[1] then
    redis.call('ZADD', KEYS[2], unpack(places))
    redis.call('HSET', KEYS[3], '@last', whole(last + #values), unpack(entries))
  end
  if front == 0 then
    redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[3]))
  end
  return front
end

-- Is another entry in front of this value?
local function is_overtaken(me, ticket)
  while true do
    local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    if not head[1] then
      return false
    end
    if living(head[1], redis.call('HGET', KEYS[3], head[1])) then
      local lowest = tonumber(head[2])
      return head[1] ~= me and (lowest < ticket or lowest == ticket and head[1] < me)
    end
  end
end

local me, lease, round, inc, fenced = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[6], ARGV[7] ~= '0'
if inc ~= '' and inc ~= incarnation() then
  return {-2, now_us, 0, 0, 0, -1, -1, 0}
end
if fenced and not counter(KEYS[4]) then
  return no_counter
end
local looks = #ARGV - 7
local value = redis.pcall('GET', KEYS[1])
local waiting = redis.pcall('ZCARD', KEYS[2])
local notes = redis.pcall('HMGET', KEYS[3], '@last', '@sweep', '@holder', me, '@modes')
local failed = not_ours(waiting, notes)
if failed then
  return failed
end
if type(value) == 'table' or tonumber(notes[5] or 0) > now then
  -- Others share the key, or want to.
  @VOTES@
  @GRANT_WAITERS@
  @ENQUEUE_MODES@
  local answer, holder, last = enqueue('x', '')
  if looks > 2 and (answer[1] or -1) >= 0 then
    answer[9] = let_follow(holder, tonumber(last))
  end
  return answer
end
local held, known = value == me, notes[4] and redis.call('ZSCORE', KEYS[2], me)
if not known and not held and waiting >= 100000 then
  return {-3, now_us, 0, 0, 0, -1, -1, 0}
end

@TICKET@

local swept = not known and tonumber(notes[2] or 0)
-- A command that was held up on its way, and is older than the entry, changes nothing.
local stale = notes[4] and tonumber(notes[4]:match('^%d+ (%d+)') or 0) > round
local before = value
if held then
  if redis.call('PTTL', KEYS[1]) < lease then
    redis.call('PEXPIRE', KEYS[1], whole(lease + 1))
  end
  redis.call('HSET', KEYS[3], '@last', last, '@holder', me .. ' ' .. whole(ticket) .. ' ' .. ARGV[9])
elseif not value and waiting == 0 then
  count_up(ARGV[7], ARGV[8])
  redis.call('HSET', KEYS[3], '@last', last, '@holder', me .. ' ' .. whole(ticket) .. ' ' .. ARGV[9])
  give(me, lease)
  value, held = me, true
elseif not stale then
  redis.call('ZADD', KEYS[2], whole(ticket), me)
  redis.call('HSET', KEYS[3], '@last', last, '@sweep', swept and whole(swept + looks) or notes[2] or '0', me,
    entry_with(ARGV[7]))
end
-- Both end together, except that the queue also ends when nobody is left.
if waiting == 0 or redis.call('PTTL', KEYS[3]) < lease then
  redis.call('PEXPIRE', KEYS[2], whole(2 * lease))
  redis.call('PEXPIRE', KEYS[3], whole(2 * lease))
end

if swept then
  sweep(swept, looks, waiting)
end
if not value then
  value = hand_off(redis.call('ZPOPMIN', KEYS[2]), me)
  held = value == me
end
local lower = held and waiting > 0 and is_overtaken(me, ticket)
local pttl = math.max(redis.call('PTTL', KEYS[1]), -1)
local rank, look = 0, held and -1 or pttl
if not held and not known and ARGV[4] == '0' and waiting > 1 then
  -- Last of many: others look after the entry in front, and so does this one's next refresh.
  rank, look = waiting, -1
elseif not held then
  local left
  rank, left = place_of(me)
  look = left or pttl
end
if not held then
  tell_lower(notes[3], before, me, ticket)
end
return {held and 1 or 0, now_us, ticket, lower and 1 or 0, rank, pttl, look,
  held and fenced and counter(KEYS[4]) or 0, looks > 2 and let_follow(value, tonumber(last)) or nil},
  value ~= before and value
