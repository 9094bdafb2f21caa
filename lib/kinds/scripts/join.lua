-- JOIN (protocol 5): what this server says of itself, and whether its memory is the one that was known.
-- KEYS: marker, a hash: run, inc, until (node time, ms), ring, max_ttl (ms), seat, durable
-- ARGV: vote | look (writes nothing) | declare (no quarantine), fresh inc, ring, max_ttl, always | none | unknown,
-- seat: which master of the ring this is
-- Answers as struct rl_join_report (votes/join.h) has it.
local mode, fresh, ring, mine, durability, seat = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local info = redis.call('INFO')
local time = redis.call('TIME')
local now_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now = math.floor(now_us / 1000)

-- One line of INFO, found as plain text.
local function says(name)
  local _, colon = info:find(name, 1, true)
  return colon and info:match('^[^\r\n]*', colon + 1) or ''
end
local function whole(value)
  return string.format('%.0f', value)
end
local function number(name)
  return math.min(tonumber(says(name)) or 0, 2 ^ 53)
end

local run_id, past = says('\nrun_id:'), says('\nmaster_replid2:')
local promoted = past:find('[^0]') ~= nil
-- A server that was a replica for a while has another's memory, though it has not been restarted.
local run = promoted and run_id .. '/' .. past or run_id
local inc, marker, role = nil, {}, says('\nrole:')
if mode ~= 'declare' then
  -- HGET by itself: guards use it, so a user without the right to must be found out.
  inc = redis.call('HGET', KEYS[1], 'inc')
  marker = redis.call('HMGET', KEYS[1], 'run', 'max_ttl', 'ring', 'until', 'durable', 'seat')
end
-- What is not of our making counts as missing.
inc = inc and #inc <= 40 and inc
local old, was_durable = inc and marker[1], marker[5]
local known, ending = tonumber(marker[2] or 0), tonumber(marker[4] or '')
known = known and known >= 0 and known <= 86400000 and known or 0
local durable = durability == 'always' and '1' or '0'
local top = math.max(known, mine)
local ends, event = now, nil

if role ~= 'master' then
  event = 'ABSENT'
elseif mode == 'declare' then
  event, top = 'DECLARED', mine
elseif not old then
  event = mode == 'look' and 'ABSENT' or 'NEW'
elseif marker[3] ~= ring then
  event, top = 'MISMATCH', known
elseif old == run or old:sub(1, #run + 1) == run .. '/' then
  event = 'KEPT'
else
  -- A copy of another master's memory has that one's marker. A restart hides that this server was its replica.
  local own = marker[6] == seat
  event = own and durable == '1' and not promoted and was_durable == '1' and 'RESUMED' or 'RESTARTED'
end
local span = top + 1000

if event == 'NEW' or event == 'RESTARTED' then
  ends = now + span
elseif inc and event ~= 'ABSENT' and event ~= 'DECLARED' then
  ends = ending == ending and ending or now + span
  if ends > now then
    -- Longer locks may be forgotten than were known; a clock that was set back must not keep the server out.
    ends = math.min(ends + top - known, now + span)
  end
end

if mode ~= 'look' and (event == 'NEW' or event == 'RESTARTED' or event == 'DECLARED') then
  -- Removed first: if a write fails half-way there is no marker, and that is the careful case.
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'inc', fresh, 'run', run, 'until', whole(ends), 'ring', ring,
    'max_ttl', whole(top), 'seat', seat)
  inc, was_durable = fresh, false
elseif mode ~= 'look' and (event == 'KEPT' or event == 'RESUMED') then
  if ending ~= ends then
    redis.call('HSET', KEYS[1], 'until', whole(ends))
  end
  if known ~= top then
    redis.call('HSET', KEYS[1], 'max_ttl', whole(top))
  end
  if event == 'RESUMED' then
    redis.call('HSET', KEYS[1], 'run', run)
  end
end
if mode ~= 'look' and durability ~= 'unknown' and event ~= 'ABSENT' and event ~= 'MISMATCH' and
    was_durable ~= durable then
  redis.call('HSET', KEYS[1], 'durable', durable)
end

local forked = says('\nvalkey_version:')
local version = forked ~= '' and 'valkey ' .. forked or 'redis ' .. says('\nredis_version:')
return {event, inc or '', run_id, says('\nmaster_replid:'), role, version:sub(1, 32), says('\nmaxmemory_policy:'),
  math.max(ends - now, 0), top, number('\nmaxmemory:'), number('\nconnected_slaves:'), now_us,
  number('\ncluster_enabled:'), number('\naof_enabled:'), promoted and 1 or 0}
