#!lua flags=allow-oom
-- beat: renews the lease of many freezes of one shard, checkpoints them, and re-creates those that Redis lost.
-- Guarantee: never turns settled into active, never lowers amount or progress of an active freeze, needs no account.
-- KEYS  1 marker, 2 index, then every key that the items name by its number
-- ARGV  1 nonce, 2 lease in ms, then the items (see read_items)
-- Returns OK window state; INVALID
local items, lease = read_items(), amount(ARGV[2])
if not items or not lease or lease <= 0 then return { 'INVALID' } end

local window, _, state = marker(KEYS[1], ARGV[1])
local now = now_ms()
for _, item in ipairs(items) do
  local old = unpack_freeze(redis.call('HGET', item.freezes, item.rid))
  if old and old.state == 'S' and item.state == 'A' then
    item.state, item.amount, item.progress = 'S', old.amount, old.progress
  elseif old and old.state == 'A' and item.state == 'A' then
    item.amount, item.progress = math.max(item.amount, old.amount), math.max(item.progress, old.progress)
  end
  put_item(item, old, window, now, lease)
end
return { 'OK', window, state }
