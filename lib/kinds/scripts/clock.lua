-- Part of the scripts that compare times: this master's clock (node time), in microseconds as a text, and in ms.
local time = redis.call('TIME')
local now_us = time[1] .. string.format('%06d', time[2])
local now = math.floor(now_us / 1000)
