#!lua flags=allow-oom
-- settle: many freezes of one shard shrink (or grow) to what their requests really cost; the difference is available at once.
-- Guarantee: the freeze stays until its outcome is committed; needs no account; the same call again changes nothing.
-- KEYS  1 marker, 2 index, then every key that the items name by its number
-- ARGV  1 nonce, 2 lease in ms, then the items (see read_items), each of state S
-- Returns OK window state; INVALID
local items, lease = read_items(), amount(ARGV[2])
if not items or not lease or lease <= 0 then return { 'INVALID' } end
for _, item in ipairs(items) do
  if item.state ~= 'S' then return { 'INVALID' } end
end

local window, _, state = marker(KEYS[1], ARGV[1])
local now = now_ms()
for _, item in ipairs(items) do
  put_item(item, unpack_freeze(redis.call('HGET', item.freezes, item.rid)), window, now, lease)
end
return { 'OK', window, state }
