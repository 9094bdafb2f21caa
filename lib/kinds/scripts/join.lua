-- JOIN (rules 5): says what this server is, and whether its memory is the one that was known. It also takes the
-- steps of a declaration of max_ttl (votes/max_ttl.h has the rules), and carries views (votes/view.h).
-- KEYS: marker, a hash: run, inc, until (node time, ms), ring (id of the list of masters), max_ttl (ms), seat (node
-- id), durable, and
--   born       when the memory was found to be new (node time, ms); 0: declared
--   longest    length of the longest lock that may be alive (ms), by which quarantines go; at least max_ttl
--   falls      when `longest` becomes max_ttl (node time, ms); 0: it does not by itself
--   announced, confirmed   numbers of declarations
--   view, turn             the latest view, and the highest turn that has begun here with the run whose it is: "7 0123..."
--   since      when the list of that view came (node time, ms)
--   stale      when a client greeted last that is configured with another list than the stored one (node time, ms)
-- ARGV: vote | look (writes nothing) | declare (no quarantine) | announce | confirm | allow | begin | tell, fresh inc,
-- list id, max_ttl, always | none | unknown, node id: which master of the deployment this is; number, max_ttl (0:
-- unknown), longest: of the deployment as the client has learned it; number is that of the declaration in its steps,
-- or the turn to begin; the client's view, '' for the list that it is configured with; the inc that a tell is for, or
-- the run that begins; id of the list that the client is configured with, '' where that is no matter.
-- Returns what struct rl_join_report (votes/join.h) has.
local mode, fresh, list_id, mine = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local durability, node_id = ARGV[5], ARGV[6]
local number, learned, alive = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local brought, told_inc, beginner, configured = ARGV[10], ARGV[11], ARGV[11], ARGV[12] or ''
local info = redis.call('INFO')
@CLOCK@

-- One line of INFO, found as plain text.
local function says(name)
  local _, colon = info:find(name, 1, true)
  return colon and info:match('^[^\r\n]*', colon + 1) or ''
end
local function whole(value)
  return string.format('%.0f', value)
end
local function number_of(name)
  return math.min(tonumber(says(name)) or 0, 2 ^ 53)
end

local run_id, past = says('\nrun_id:'), says('\nmaster_replid2:')
local promoted = past:find('[^0]') ~= nil
-- A server that was a replica for a while has another's memory, though it has not been restarted.
local run = promoted and run_id .. '/' .. past or run_id
local inc, marker, role = nil, {}, says('\nrole:')
if mode ~= 'declare' then
  -- HGET by itself: epoch checks use it, so a user who may not use it must be found out here.
  inc = redis.call('HGET', KEYS[1], 'inc')
  marker = redis.call('HMGET', KEYS[1], 'run', 'max_ttl', 'ring', 'until', 'durable', 'seat', 'born', 'longest',
    'falls', 'announced', 'confirmed', 'view', 'turn', 'since', 'stale')
end
local function within(index, most)
  local value = tonumber(marker[index] or '')
  return value and value >= 0 and value <= most and value or nil
end
local function is_of_this_run(text)
  return text and (text == run or text:sub(1, #run + 1) == run .. '/')
end
-- The epoch of a view, the ids of its list and of the one before it, and those of all that led to it.
local function view_of(text, list)
  local turn, run_of, step, id, before, past = (text or ''):match('^(%d+) (%x+) (%d+) (%S+) (%S+) (%S+) ')
  if not turn then
    return {turn = 0, run = '', step = 0, list = list or '', before = '-', past = list or ''}
  end
  return {turn = tonumber(turn), run = run_of, step = tonumber(step), list = id, before = before, past = past}
end
local function is_newer(a, b)
  if a.turn ~= b.turn then
    return a.turn > b.turn
  end
  return a.run > b.run or a.run == b.run and a.step > b.step
end
local function remembers(view, list)
  return (',' .. view.past .. ','):find(',' .. list .. ',', 1, true)
end
local function are_related(a, b)
  for list in a.past:gmatch('[^,]+') do
    if remembers(b, list) then
      return true
    end
  end
  return false
end
-- Has this memory, which nobody has lost, the marker of another master of the deployment? Then two names lead to this
-- server, or have done so: it votes by the name for which its marker was made, so that no lock counts its votes twice.
local carried = view_of(brought, list_id)
local function is_anothers()
  local seen = mode == 'declare' and redis.pcall('HMGET', KEYS[1], 'run', 'ring', 'seat', 'view') or
    {marker[1], marker[3], marker[6], marker[12]}
  return is_of_this_run(seen[1]) and seen[3] and seen[3] ~= node_id and are_related(view_of(seen[4], seen[2]), carried)
end
-- A field that this script cannot have written counts as missing.
inc = inc and #inc <= 40 and inc
local old, was_durable = inc and marker[1], marker[5]
local first = not old or mode == 'declare'
local cap = not first and within(2, 86400000) or first and learned > 0 and mode ~= 'declare' and learned or mine
local longest = first and (learned > 0 and mode ~= 'declare' and alive or mine) or math.max(cap, within(8, 86400000) or 0)
local falls, born = within(9, 2 ^ 53) or 0, within(7, 2 ^ 53) or 0
local announced, confirmed = within(10, 2 ^ 53) or 0, within(11, 2 ^ 53) or 0
local since, stale = within(14, 2 ^ 53), within(15, 2 ^ 53)
local durable = durability == 'always' and '1' or '0'
local ends, event, renewed = now, nil, false

local stored = view_of(marker[12], marker[3])
local turn, run_of_turn = (marker[13] or ''):match('^(%d+) (%x+)$')
local begun = {turn = math.min(tonumber(turn) or 0, 2 ^ 53), run = run_of_turn or '', step = 0}
local beginning = {turn = mode == 'begin' and number or 0, run = mode == 'begin' and beginner or '', step = 0}
local related = old and are_related(stored, carried)
local compares = related and mode ~= 'begin' and mode ~= 'declare'
local brings = compares and is_newer(carried, stored)
-- A copy of another master's memory has that one's marker. A restart hides that this server was its replica.
local resumed = marker[6] == node_id and durable == '1' and not promoted and was_durable == '1'
-- rule 15.5: a memory that counts for nothing yet learns from everybody, and begins no turn.
local learns = old and mode ~= 'declare' and
  (not is_of_this_run(old) and not resumed or (tonumber(marker[4] or '') or 0) > now)
-- rule 15.2: a view that does not know the stored one, or of a run that another has overtaken, is not taken.
local leads_here = not is_newer(begun, carried) and remembers(carried, stored.list) and
  (stored.before == '-' or remembers(carried, stored.before))
local may_take = brings and (learns or leads_here)
-- A program that is configured with a master's new name (rule 15.18) may be the first to greet its empty memory, and
-- knows the master's id by the view alone.
local reseats = brings and learns and stored.turn == 0 and marker[6] ~= node_id

-- A clock that was set back must not delay the fall.
falls = math.min(falls, now + longest + 1000)
if falls > 0 and falls <= now or longest == cap then
  longest, falls = cap, 0
end

if role ~= 'master' then
  event = 'ABSENT'
elseif compares and is_newer(stored, carried) then
  event = 'OUTDATED'
elseif is_anothers() and not reseats then
  event = 'MISPLACED'
elseif mode == 'declare' then
  event, announced = 'DECLARED', math.max(number, 1)
  confirmed, born = announced, 0
elseif not old then
  event = mode == 'vote' and 'NEW' or 'ABSENT'
  announced, confirmed = number, number
elseif not related then
  event = 'MISMATCH'
elseif brings and not may_take or mode == 'begin' and not learns and is_newer(begun, beginning) then
  event = 'OVERRULED'
elseif brings and mode == 'look' then
  event = 'BEHIND'
elseif mode == 'tell' and inc ~= told_inc then
  event = 'OTHER'
elseif is_of_this_run(old) then
  event = 'KEPT'
else
  event = resumed and 'RESUMED' or 'RESTARTED'
end

local known = event == 'KEPT' or event == 'RESUMED'
local ending = tonumber(marker[4] or '')
ends = known and (ending == ending and ending or now + longest + 1000) or now
if (known or event == 'RESTARTED') and (mode == 'vote' or mode == 'look') and number > announced then
  -- The marker was made without a declaration that every master knew: it goes on as if it had known then.
  renewed, announced, confirmed, cap, longest = known, number, number, learned, math.max(longest, alive)
  ends = known and born > 0 and born + alive + 1000 or ends
  falls = 0
elseif event == 'RESTARTED' and alive > longest then
  longest, falls = alive, 0
end
if event == 'NEW' or event == 'RESTARTED' then
  born, ends = now, now + longest + 1000
end
if known and mode == 'announce' and number > announced then
  announced, longest, falls = number, math.max(longest, mine), 0
  renewed, cap = mine < cap, math.min(cap, mine)
elseif known and mode == 'confirm' and number == announced and confirmed < number then
  confirmed, renewed = number, mine > cap
elseif known and mode == 'allow' and number == confirmed and number == announced then
  cap, falls = mine, 0
end
if longest > cap and falls == 0 and mode ~= 'announce' and mode ~= 'confirm' and
    (event == 'NEW' or event == 'RESTARTED' or renewed or mode == 'allow') then
  falls = now + longest + 1000
end
ends = math.min(ends, now + longest + 1000)
-- A new list is a new incarnation of the same memory (rule 15.3): what was asked by another list counts no more.
if known and may_take and (carried.list ~= stored.list or reseats) then
  renewed, since = true, now
end
-- rule 15.6: runs of one turn go by their names, so that no two are equal.
begun = not learns and is_newer(begun, carried) and begun or carried
begun = known and not learns and is_newer(beginning, begun) and beginning or begun

local words = {inc = inc, run = run, ['until'] = whole(ends), ring = list_id, max_ttl = whole(cap),
  seat = node_id, born = whole(born), longest = whole(longest), falls = whole(falls), announced = whole(announced),
  confirmed = whole(confirmed), view = brought ~= '' and brought or nil, turn = begun.turn > 0 and whole(begun.turn) .. ' ' .. begun.run or nil}
words.since = since and whole(since)
words.durable = durability ~= 'unknown' and durable or nil
local begins = event == 'NEW' or event == 'DECLARED' or event == 'RESTARTED' and mode == 'vote'
if begins then
  -- Removed first: if a write fails half-way there is no marker, and that is the careful case.
  redis.call('DEL', KEYS[1])
  words.inc, inc = fresh, fresh
  since, stale = brought ~= '' and now or nil, nil
  words.since = since and whole(since)
elseif mode ~= 'look' and known then
  inc = renewed and fresh or inc
  words.inc, words.seat = inc, reseats and node_id or nil
  if not may_take then
    words.ring, words.view = nil, nil
  end
  words.run = event == 'RESUMED' and run or nil
else
  words = {}
end
local had = begins and {} or {inc = not renewed and inc, ['until'] = marker[4], max_ttl = marker[2], durable = was_durable,
  born = marker[7], longest = marker[8], falls = marker[9], announced = marker[10], confirmed = marker[11],
  ring = marker[3], view = marker[12], turn = marker[13], since = marker[14], seat = marker[6]}
local changes = {}
for name, word in pairs(words) do
  if had[name] ~= word then
    changes[#changes + 1], changes[#changes + 2] = name, word
  end
end
if #changes > 0 then
  -- A full master refuses HSET, but not in a script that has written before: this removes nothing.
  redis.pcall('HDEL', KEYS[1], '')
  local answer = redis.pcall('HSET', KEYS[1], unpack(changes))
  local text = type(answer) == 'table' and answer.err or ''
  local paused = text:find('MISCONF', 1, true) or text:find('NOREPLICAS', 1, true)
  -- A marker that is known says the same without its changes, for as long as the master takes no writes.
  if text ~= '' and (begins or renewed or mode ~= 'vote' or not paused) then
    return answer
  end
end

if mode == 'vote' and (known or event == 'OUTDATED') and configured ~= '' and
    configured ~= (words.ring or marker[3]) and math.abs(now - (stale or 0)) >= 1000 then
  stale = now
  redis.pcall('HSET', KEYS[1], 'stale', whole(now))
end

local forked = says('\nvalkey_version:')
local version = forked ~= '' and 'valkey ' .. forked or 'redis ' .. says('\nredis_version:')
return {event, inc or '', run_id, says('\nmaster_replid:'), role, version:sub(1, 32), says('\nmaxmemory_policy:'),
  math.max(ends - now, 0), cap, number_of('\nmaxmemory:'), number_of('\nconnected_slaves:'), tonumber(now_us),
  number_of('\ncluster_enabled:'), number_of('\naof_enabled:'), promoted and 1 or 0, longest,
  falls > 0 and falls - now or 0, announced, confirmed, known and born > 0 and math.max(now - born, 0) or 0, begun.turn,
  since and math.max(now - since, 1) or 0, stale and math.max(now - stale, 1) or 0,
  words.view or not begins and marker[12] or ''}
