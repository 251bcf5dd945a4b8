#!lua
-- open: ends the recovery window of an idle shard, so that no request has to wait for it.
-- Guarantee: opens only the window that the caller waited out; of another generation it starts a new one.
-- KEYS  1 marker
-- ARGV  1 nonce, 2 window that the caller waited out
-- Returns OPEN window evictions; RECOVERING window
local window, evictions, state = marker(KEYS[1], ARGV[1])
if state ~= 'open' then
  if ARGV[2] ~= window then return { 'RECOVERING', window } end
  redis.call('HSET', KEYS[1], 'state', 'open')
end
return { 'OPEN', window, evictions }
