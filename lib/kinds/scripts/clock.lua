-- Part of the scripts that compare times: this master's clock (node time), in microseconds and in ms.
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now = math.floor(now_us / 1000)
