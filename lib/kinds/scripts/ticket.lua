-- Part of ENQUEUE and ENQUEUE_MODES: the waiter's ticket, and the largest one that this master knows. The client's
-- ticket counts, or that of the entry, or a new one: above all others, and at least what the client proposes, if its
-- clock is less than a day ahead. `notes` begins with `@last`; `known` is the ticket of the entry.
local last, ticket = tonumber(notes[1] or 0), tonumber(ARGV[4])
if ticket == 0 then
  ticket = tonumber(known or 0)
end
if ticket == 0 then
  ticket = math.max(last + 1, math.min(tonumber(ARGV[5]), most))
end
last = whole(math.max(last, ticket))
