-- LATCH (rules 12): ARRIVE, READ and OPEN are one script, which does what its arguments ask for. Repeating it changes
-- nothing.
-- KEYS: the latch, a hash: 'n', the number of parties; 'gen', the generation; 'a:PARTY' for each party that has
-- arrived, with the time; 'arrived', how many these are; 'rev', another text whenever one more has arrived; 'c:CHANNEL'
-- for each client that waits, and 'waiting', how many; 'open'; 'was', 'GEN N' of the generation before, which has opened.
-- ARGV: number of parties; generation; ms to keep the latch; 'GEN N' of a generation that has opened, or ''; a party
-- that arrives, or ''; '1': the latch is known to be open; the channel of a client that waits, or ''; the 'rev' whose
-- names the client knows, or '*': it does not want names.
-- Returns {1 open | 0 shut | -1 another number of parties | -2 another generation | -3 all parties have arrived, and
-- this one is none of them | -4 the key is no latch; 'was' or ''; 'rev' or ''; names: 'SIZE NAME', one behind the
-- other}. Nothing is changed where the first is negative.
local key, n, gen, keep, passed, party, opens, channel, seen = KEYS[1], unpack(ARGV)
local has = redis.pcall('HMGET', key, 'n', 'gen', 'was', 'open', 'arrived', 'rev', 'waiting', 'a:' .. party)
if has.err then
  return has.err:find('WRONGTYPE', 1, true) and {-4, '', '', ''} or has
end
if not has[2] and redis.call('EXISTS', key) == 1 then
  return {-4, '', '', ''}
end

-- Generations are decimal numbers that may be larger than what Lua counts with.
local function is_below(a, b)
  return #a < #b or #a == #b and a < b
end

-- Who knows that a generation has opened tells those of its masters that do not, or that have missed it and stay at one
-- before.
local told = passed:match('^(%d+) %d+$') or ''
if not is_below(told, gen) then
  told = ''
end

local was = has[3] or ''
if has[2] and has[2] ~= gen then
  local before, parties = was:match('^(%d+) (%d+)$')
  if before == gen then
    return {parties == n and 1 or -1, '', '', ''}
  end
  local current = has[2] .. ' ' .. has[1]
  if is_below(gen, has[2]) or not (has[4] or current == passed or is_below(has[2], told)) then
    return {-2, was, '', ''}
  end
  redis.call('DEL', key)
  has, was = {}, current
elseif has[2] and has[1] ~= n then
  return {-1, was, '', ''}
end
if is_below(was:match('^%d+') or '', told) then
  was = passed
end

local arrived, rev, waiting = tonumber(has[5] or 0), has[6] or '0', tonumber(has[7] or 0)
local fields = {}
local function set(field, value)
  fields[#fields + 1] = field
  fields[#fields + 1] = value
end
if not has[2] then
  set('n', n)
  set('gen', gen)
end
if was ~= (has[3] or '') then
  set('was', was)
end
if party ~= '' and not has[8] then
  if arrived >= tonumber(n) then
    return {-3, was, '', ''}
  end
  local time = redis.call('TIME')
  arrived = arrived + 1
  rev = arrived .. '@' .. time[1] .. string.format('%06d', time[2])
  set('a:' .. party, time[1])
  set('arrived', arrived)
  set('rev', rev)
end
local open = has[4] or opens == '1' or arrived >= tonumber(n)
if open and not has[4] then
  set('open', '1')
elseif not open and channel ~= '' and waiting < 1000 and not redis.call('HGET', key, 'c:' .. channel) then
  set('c:' .. channel, '1')
  set('waiting', waiting + 1)
end
if fields[1] then
  redis.call('HSET', key, unpack(fields))
end
if redis.call('PTTL', key) < tonumber(keep) then
  redis.call('PEXPIRE', key, keep)
end

-- Whoever waits is told once, and names are listed to those who do not know them.
local names, told, wanted = {}, {}, seen ~= '*' and seen ~= rev
if wanted or open and waiting > 0 then
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local what, name = field:sub(1, 2), field:sub(3)
    if what == 'a:' and wanted then
      names[#names + 1] = #name .. ' ' .. name
    elseif what == 'c:' and open then
      redis.pcall('PUBLISH', name, 'latch ' .. key)
      told[#told + 1] = field
    end
  end
end
if told[1] then
  redis.call('HDEL', key, 'waiting', unpack(told))
end
return {open and 1 or 0, was, rev, table.concat(names)}
