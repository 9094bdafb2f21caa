-- ENQUEUE of a permit: enters the wait queue of a slot as a mutex does, and says which other slots are free.
-- KEYS: as for ENQUEUE; then the key and the wait queue of each other slot. ARGV: as for ENQUEUE, of one value
-- Returns what ENQUEUE does, and a mask: 0 if the key is the value's now.
@FREE_SLOTS@
local function join()
@ENQUEUE@
end
local answer = join()
if not answer.err then
  answer[9] = answer[1] == 0 and free_slots(6) or 0
end
return answer
