-- JOIN (protocol section 5): what this server says of itself, and whether its memory is the one that was known.
-- KEYS: marker, a hash of run, inc, until (node time, ms), ring, max_ttl (ms), durable
-- ARGV: 'vote' | 'look' (writes nothing) | 'declare' (no quarantine), fresh incarnation, ring, max_ttl,
--       'always' | 'none' | 'unknown' (durability)
-- Answers event, incarnation, run id, replication id, role, version, maxmemory policy, ms left of the quarantine,
-- max_ttl, maxmemory, replicas, node time in us, and 0 or 1 for cluster, append only, promoted.
local mode, fresh, ring, mine, durability = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local info = redis.call('INFO')
local time = redis.call('TIME')
local now_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now = math.floor(now_us / 1000)

-- Plain text is found many times faster than a pattern is: INFO has thousands of characters.
local function says(name)
  local _, colon = info:find('\n' .. name .. ':', 1, true)
  return colon and info:match('^[^\r\n]*', colon + 1) or ''
end
local function number(name)
  return math.min(tonumber(says(name)) or 0, 2 ^ 53)
end
local function stored(field)
  return redis.call('HGET', KEYS[1], field)
end
local function write(field, value)
  redis.call('HSET', KEYS[1], field, value)
end
local function whole(value)
  return string.format('%.0f', value)
end

local past = says('master_replid2')
local promoted = past:find('[^0]') ~= nil
-- A server that was a replica for a while has another's memory, though it has not been restarted.
local run = promoted and says('run_id') .. '/' .. past or says('run_id')
local inc, known = stored('inc'), tonumber(stored('max_ttl')) or 0
local old = stored('run')
local durable = durability == 'always' and '1' or '0'
local top = math.max(known, mine)
local ends, event = now, nil

if says('role') ~= 'master' then
  event = 'ABSENT'
elseif mode == 'declare' then
  event, top = 'DECLARED', mine
elseif not inc or not old then
  event = mode == 'look' and 'ABSENT' or 'NEW'
elseif stored('ring') ~= ring then
  event, top = 'MISMATCH', known
elseif old == run or old:sub(1, #run + 1) == run .. '/' then
  event = 'KEPT'
else
  event = durable == '1' and not promoted and stored('durable') == '1' and 'RESUMED' or 'RESTARTED'
end
local span = top + 1000

if event == 'NEW' or event == 'RESTARTED' then
  ends = now + span
elseif inc and event ~= 'ABSENT' and event ~= 'DECLARED' then
  ends = tonumber(stored('until')) or now + span
  if ends > now then
    -- Longer locks than were known may be forgotten; a clock that was set back must not keep the server out.
    ends = math.min(ends + top - known, now + span)
  end
end

if mode ~= 'look' and (event == 'NEW' or event == 'RESTARTED' or event == 'DECLARED') then
  -- Removed first: if a write fails half-way there is no marker, and that is the careful case.
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'inc', fresh, 'run', run, 'until', whole(ends), 'ring', ring, 'max_ttl', whole(top))
  inc = fresh
elseif mode ~= 'look' and (event == 'KEPT' or event == 'RESUMED') then
  if stored('until') ~= whole(ends) then
    write('until', whole(ends))
  end
  if known ~= top then
    write('max_ttl', whole(top))
  end
  if event == 'RESUMED' then
    write('run', run)
  end
end
if mode ~= 'look' and durability ~= 'unknown' and event ~= 'ABSENT' and event ~= 'MISMATCH' and
    stored('durable') ~= durable then
  write('durable', durable)
end

local forked = says('valkey_version')
local version = forked ~= '' and 'valkey ' .. forked or 'redis ' .. says('redis_version')
return {event, inc or '', says('run_id'), says('master_replid'), says('role'), version:sub(1, 32),
  says('maxmemory_policy'), math.max(ends - now, 0), top, number('maxmemory'), number('connected_slaves'), now_us,
  number('cluster_enabled'), number('aof_enabled'), promoted and 1 or 0}
