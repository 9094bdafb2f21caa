-- Part of ENQUEUE and RELEASE (rule 7.2): gives the key to the waiter whose turn it is.
@ENTRIES@

-- Nobody has the key, or its holder releases it: gives it to the first waiter until that one's lease ends, so that a
-- dead waiter delays the others for no longer. `head` is what ZPOPMIN has taken off the queue; entries that do not
-- count are dropped. Returns the value that has the key now, or nil; `me` needs no message. An entry with a mode that
-- counts goes back into the queue: then it returns nil and true.
local function hand_off(head, me)
  while head[1] do
    local value, ticket = head[1], head[2]
    local entry = redis.call('HGET', KEYS[3], value)
    local ends, round, lease, inc, proposal, idle, channel = string.match(entry or '', parts)
    if not ends and left_of((entry or ''):match(with_mode)) then
      redis.call('ZADD', KEYS[2], ticket, value)
      return nil, true
    end
    local left = left_of(ends, lease, inc)
    redis.call('HDEL', KEYS[3], value)
    if left then
      local count = count_up(proposal, idle)
      redis.call('HSET', KEYS[3], '@holder', value .. ' ' .. ticket .. ' ' .. channel)
      give(value, left)
      if value ~= me then
        tell(channel, value, round, 'granted', inc, count)
      end
      return value
    end
    head = redis.call('ZPOPMIN', KEYS[2])
  end
end
