-- ENQUEUE in a mode (rule 9.5): enters the wait queue or refreshes the entry, and votes if it is the value's turn.
-- KEYS: as in ENTRIES. ARGV: the nine of ENQUEUE, mode (r, u or x), the value whose vote this one is to replace or ''.
-- Returns what ENQUEUE does for one value.
@JOIN_READERS@
local last = ARGV[4] == '0' and redis.pcall('HGET', KEYS[3], '@last') or 0
if ARGV[7] == '0' and ARGV[10] == 'r' and ARGV[11] == '' and type(last) ~= 'table' and
    (ARGV[6] == '' or ARGV[6] == redis.pcall('HGET', KEYS[5], 'inc')) then
  local now_us, pttl = join_readers(ARGV[1], ARGV[2] + 1)
  if now_us then
    local ticket = math.max(last + 1, math.min(ARGV[5], now_us + 86400000000))
    return {1, now_us, ARGV[4] == '0' and ticket or tonumber(ARGV[4]), 0, 0, pttl, -1, 0}
  end
end
@ENTRIES@
@LIVING@
@PLACE@
@VOTES@
@GRANT_WAITERS@
@ENQUEUE_MODES@
if ARGV[6] ~= '' and ARGV[6] ~= incarnation() then
  return {-2, now_us, 0, 0, 0, -1, -1, 0}
end
if ARGV[7] ~= '0' and not counter(KEYS[4]) then
  return no_counter
end
local answer = enqueue(ARGV[10], ARGV[11])
return answer
