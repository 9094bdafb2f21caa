-- Part of ENQUEUE and ENQUEUE_SHARED, behind PLACE and GRANT_WAITERS: enters the wait queue in a mode, or refreshes the
-- entry. ARGV and the answer are those of ENQUEUE. `replaced` is as in GRANT_WAITERS.
local function enqueue(mode, replaced)
  local me, lease, round, fenced = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[7] ~= '0'
  look()
  if strange then
    return strange
  end
  local waiting = redis.pcall('ZCARD', KEYS[2])
  local notes = redis.pcall('HMGET', KEYS[3], '@last', '@sweep', '@holder', me, '@modes')
  local failed = not_ours(waiting, notes) or replaced ~= '' and weaken_replaced(replaced)
  if failed then
    return failed
  end
  local before = holder
  local own, ends = vote_of(me)
  local known = notes[4] and redis.call('ZSCORE', KEYS[2], me)
  if not known and not own and waiting >= 100000 then
    return {-3, now_us, 0, 0, 0, -1, -1, 0}
  end
  @TICKET@

  local swept = not known and tonumber(notes[2] or 0)
  local _, _, _, noted = parts_of(notes[4] or '')
  -- A command that was held up on its way, and is older than the entry, changes nothing.
  if own then
    if (ends or now + redis.call('PTTL', KEYS[1])) < now + lease then
      renew(own, me, now + lease + 1)
    end
    redis.call('HSET', KEYS[3], '@last', last)
    if holder then
      redis.call('HSET', KEYS[3], '@holder', me .. ' ' .. whole(ticket) .. ' ' .. ARGV[9])
    end
  elseif not noted or tonumber(noted) <= round then
    local word = replaced ~= '' and 'x^' .. replaced .. ' ' or mode ~= 'x' and mode .. ' ' or ''
    local until_then = word == '' and 0 or now + 2 * lease
    redis.call('ZADD', KEYS[2], whole(ticket), me)
    redis.call('HSET', KEYS[3], '@last', last, '@sweep', swept and whole(swept + 2) or notes[2] or '0',
      '@modes', whole(math.max(tonumber(notes[5] or 0), until_then)), me,
      word .. table.concat({whole(now + lease), ARGV[3], ARGV[2], ARGV[6] == '' and '-' or ARGV[6], ARGV[7], ARGV[8],
      ARGV[9]}, ' '))
  end
  if waiting == 0 or redis.call('PTTL', KEYS[3]) < lease then
    redis.call('PEXPIRE', KEYS[2], whole(2 * lease))
    redis.call('PEXPIRE', KEYS[3], whole(2 * lease))
  end
  if swept then
    sweep(swept, 2, waiting)
  end

  local _, mine = grant_waiters(me)
  local held = own or mine
  set_end()
  local rival = held and rival_of(mode)
  local lowest = rival and tonumber(redis.call('ZSCORE', KEYS[2], rival))
  local lower = rival and (lowest < ticket or lowest == ticket and rival < me)
  local pttl = redis.call('PTTL', KEYS[1])
  local rank, look_ms = 0, -1
  if not held then
    local left
    rank, left = place_of(me)
    look_ms = left or pttl
    tell_lower(notes[3], before, me, ticket)
  end
  local count = held and fenced and (mode == 'x' and counter(KEYS[4]) or tonumber(read_counter(ARGV[7], ARGV[8]))) or 0
  return {held and 1 or 0, now_us, ticket, lower and 1 or 0, rank, pttl, look_ms, count}, holder, last
end
