-- ENQUEUE that refreshes several entries whose tickets are known, and whose turn it is not: as if the commands came
-- one after the other, and were answered then. KEYS: as in ENTRIES.
-- ARGV: lease ms, incarnation expected in the marker ('' does not look), 1 if fenced, the counter's idle ttl ms,
-- channel; then for each entry its value, round, ticket, and proposal for the fencing counter.
-- Returns {0, node time us, PTTL of the key, "rank look" of each entry with spaces in between}: the waiters in front,
-- and ms after which to look again or -1. "- -" means that nothing was done for this entry, which must be refreshed
-- alone. In another memory it returns what ENQUEUE does.
@ENTRIES@
@LIVING@
local lease, inc, idle, channel = tonumber(ARGV[1]), ARGV[2], ARGV[4], ARGV[5]
if inc ~= '' and inc ~= incarnation() then
  return {-2, now_us, 0, 0, 0, -1, -1, 0}
end
if ARGV[3] == '1' and not counter(KEYS[4]) then
  return no_counter
end
-- A table, where others share the key, is nobody's value.
local holder = redis.pcall('GET', KEYS[1])
if type(holder) == 'table' and type(redis.pcall('ZCARD', KEYS[1])) == 'table' then
  return holder
end
local values = {}
for at = 6, #ARGV, 4 do
  values[#values + 1] = ARGV[at]
end
local notes = redis.call('HMGET', KEYS[3], '@last', '@holder', unpack(values))
local other, number, its_channel = (notes[2] or ''):match('^(%S+) (%d+) (.*)$')
local is_holders = holder and other == holder
local lowest, last = math.huge, tonumber(notes[1] or 0)
local head, middle = whole(now + lease) .. ' ', ' ' .. ARGV[1] .. ' ' .. (inc == '' and '-' or inc) .. ' '
local tail = ' ' .. idle .. ' ' .. channel
local stays, fresh, places, entries = {}, {}, {}, {}
local first, overtaken
for i, me in ipairs(values) do
  local entry, round, ticket = notes[i + 2], ARGV[4 * i + 3], tonumber(ARGV[4 * i + 4])
  stays[i] = holder and holder ~= me and entry
  -- A command that was held up on its way, and is older than the entry, changes nothing.
  if stays[i] and tonumber(entry:match('^%d+ (%d+)') or 0) <= tonumber(round) then
    local at = #places + 1
    last, fresh[me] = math.max(last, ticket), true
    places[at], places[at + 1] = ARGV[4 * i + 4], me
    entries[at], entries[at + 1] = me, head .. round .. middle .. ARGV[4 * i + 5] .. tail
    if ticket < lowest then
      lowest, first = ticket, me
    end
  end
  overtaken = overtaken or stays[i] and is_holders and
    (ticket < tonumber(number) or ticket == tonumber(number) and me < other)
end
-- Most entries are one behind the other, so those around the first are looked up together.
local rank_of, ahead_of = {}, {}
if first then
  redis.call('ZADD', KEYS[2], unpack(places))
  redis.call('HSET', KEYS[3], '@last', whole(last), unpack(entries))
  -- Both end together, except that the queue also ends when nobody is left.
  if redis.call('PTTL', KEYS[2]) < lease then
    redis.call('PEXPIRE', KEYS[2], whole(2 * lease))
    redis.call('PEXPIRE', KEYS[3], whole(2 * lease))
  end
  local from = math.max(redis.call('ZRANK', KEYS[2], first) - 1, 0)
  local ahead
  for i, value in ipairs(redis.call('ZRANGE', KEYS[2], from, from + #values)) do
    rank_of[value], ahead_of[value], ahead = from + i - 1, ahead, value
  end
end

-- How many waiters are in front, and how long the one right in front may live; dead ones are dropped. nil: no entry.
-- Of those far back only the first one looks at whom it stands behind: the others come closer before it matters.
local dropped = false
local function place_of(me)
  if not dropped and (rank_of[me] == 0 or fresh[ahead_of[me]]) then
    return rank_of[me], rank_of[me] > 0 and lease
  end
  local rank, left = redis.call('ZRANK', KEYS[2], me), false
  if rank and rank >= 64 and me ~= first then
    return rank, lease
  end
  while rank and rank > 0 and not left do
    local ahead = redis.call('ZRANGE', KEYS[2], rank - 1, rank - 1)[1]
    left = living(ahead, redis.call('HGET', KEYS[3], ahead))
    dropped = dropped or not left
    rank = left and rank or rank - 1
  end
  return rank, left
end

local pttl = redis.call('PTTL', KEYS[1])
local said = {}
for i, me in ipairs(values) do
  local rank, left
  if stays[i] then
    rank, left = place_of(me)
  end
  said[i] = rank and rank .. ' ' .. whole(math.min(left or pttl, 2 ^ 53)) or '- -'
end
-- If another value got the key before a lower ticket was here, its waiter must know: it may have no quorum.
if overtaken then
  tell(its_channel, other, 0, 'lower', '-', 0)
end
return {0, now_us, pttl, table.concat(said, ' ')}
