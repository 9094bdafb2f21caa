-- Part of ENQUEUE and ENQUEUE_SHARED, behind LIVING: whether the queue is ours, and the place of a waiter in it.
-- What to answer if a first look at the queue or at the waiters is an error: which of the two names something else has,
-- or what the server says. nil: both are ours.
local function not_ours(queue, waiters)
  local name = type(queue) == 'table' and 'queue' or waiters.err and 'waiters'
  local failed = name == 'queue' and queue or waiters
  if name and failed.err:find('WRONGTYPE', 1, true) then
    return {err = 'FOREIGN redlock:' .. name}
  end
  return name and failed or nil
end

-- How many waiters are in front of it, and what is left of the lease of the one just in front, which is alive. Dead
-- ones that were between these two are dropped. 0 and nil: it is the first.
local function place_of(me)
  local rank = redis.call('ZRANK', KEYS[2], me) or 0
  while rank > 0 do
    local ahead = redis.call('ZRANGE', KEYS[2], rank - 1, rank - 1)[1]
    local left = living(ahead, redis.call('HGET', KEYS[3], ahead))
    if left then
      return rank, left
    end
    rank = rank - 1
  end
  return 0
end

-- If the value that has the key got it before this lower ticket was here, its waiter must know: it may have no quorum.
-- `note` is '@holder' as it was found.
local function tell_lower(note, value, me, ticket)
  local other, number, channel = (note or ''):match('^(%S+) (%d+) (.*)$')
  if other and other == value and (ticket < tonumber(number) or ticket == tonumber(number) and me < other) then
    tell(channel, other, 0, 'lower', '-', 0)
  end
end
