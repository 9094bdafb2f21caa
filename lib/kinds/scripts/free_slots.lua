-- Part of CLAIM_PERMIT and ENQUEUE_PERMIT: which other slots of the semaphore are free. From KEYS[first] on, KEYS has
-- the key and the wait queue of each; bit i of the answer says that slot i has neither a holder nor waiters.
local function free_slots(first)
  local mask, bit, keys = 0, 1, {}
  for at = first, #KEYS, 2 do
    keys[#keys + 1] = KEYS[at]
  end
  if #keys == 0 or redis.call('EXISTS', unpack(keys)) == #keys then
    return 0
  end
  for at = first, #KEYS, 2 do
    if redis.call('EXISTS', KEYS[at], KEYS[at + 1]) == 0 then
      mask = mask + bit
    end
    bit = bit * 2
  end
  return mask
end
