-- Part of GRANT and ENTRIES, behind CLOCK: no client's clock can push a counter or a ticket further than this, a day
-- beyond the clock of this master.
local most = now_us + 86400000000
