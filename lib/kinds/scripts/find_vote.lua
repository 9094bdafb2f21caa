-- Part of the scripts that meet a set of votes (rule 9.2) and know no more of them: the end of a value's vote, dead or
-- alive; nil: it has none. It returns an error, too.
local function find_vote(key, value)
  for mode in ('rux'):gmatch('.') do
    local ends = redis.pcall('ZSCORE', key, mode .. ' ' .. value)
    if ends then
      return ends
    end
  end
end
