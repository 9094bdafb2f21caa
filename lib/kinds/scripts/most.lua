-- Part of GRANT and ENTRIES, behind CLOCK: no client's clock can push a counter or a ticket further than this, a day
-- beyond the clock of this master, and a counter by the lead of the client's list of masters more.
local most = now_us + 86400000000

-- A number that a client proposes for a counter, NUMBER or NUMBER+LEAD, as far as it may go.
local function allowed(proposal)
  local number, lead = proposal:match('(%d+)%+?(%d*)')
  return math.min(number, most + ('0' .. lead))
end
