#!lua flags=allow-oom
-- evict: forgets accounts of one tenant in one home, so that nothing is decided by them again before Postgres is read.
-- Guarantee: only where the shard is open and nothing of the tenant is frozen there; a snapshot read before opens nothing.
-- KEYS  1 marker, 2 the home's freezes, 3.. accounts
-- ARGV  1 nonce, 2 window that the caller waited out, 3 the tenant's scope
-- Returns EVICTED; BUSY freezes (of the tenant); RECOVERING window
local window, _, state = marker(KEYS[1], ARGV[1])
if state ~= 'open' then
  if ARGV[2] ~= window then return { 'RECOVERING', window } end
  redis.call('HSET', KEYS[1], 'state', 'open')
end
local busy = 0
for _, s in ipairs(redis.call('HVALS', KEYS[2])) do
  if string.find(',' .. unpack_freeze(s).scopes .. ',', ',' .. ARGV[3] .. ',', 1, true) then busy = busy + 1 end
end
if busy > 0 then return { 'BUSY', text(busy) } end
redis.call('HINCRBY', KEYS[1], 'evictions', 1)
for i = 3, #KEYS do redis.call('DEL', KEYS[i]) end
return { 'EVICTED' }
