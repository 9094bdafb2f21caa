-- ENQUEUE in a mode (rule 9.5): enters the wait queue or refreshes the entry, and votes if it is the value's turn.
-- KEYS: as in ENTRIES. ARGV: the nine of ENQUEUE, mode (r, u or x), the value whose vote this one is to replace or ''.
-- Returns what ENQUEUE does for one value.
@ENTRIES@
@LIVING@
@PLACE@
@VOTES@
@GRANT_WAITERS@
@ENQUEUE_MODES@
if ARGV[6] ~= '' and ARGV[6] ~= incarnation() then
  return {-2, tonumber(now_us), 0, 0, 0, -1, -1, 0}
end
if ARGV[7] ~= '0' and not counter(KEYS[4]) then
  return no_counter
end
local answer = enqueue(ARGV[10], ARGV[11])
return answer
