#!lua
-- lower: tests a decrease on live freezes. The snapshot's limit is lowered by it already, so that nothing is admitted above it
-- from here on; this says whether what is used and set aside leaves room for the lowered total.
-- Guarantee: decides on an open, trusted account of at least the snapshot's version, in the script that installs it.
-- KEYS  1 marker, 2 index, 3 the home's freezes, 4 account
-- ARGV  1 decrease, 2 nonce, 3 window waited out, 4 and 5 ticket, 6.. a snapshot
-- Returns FITS | BELOW numbers; NEED_LOAD window evictions; RECOVERING window; INVALID
local by, snapshots = amount(ARGV[1]), read_snapshots(6, 1)
if not by or by <= 0 or not snapshots or not snapshots[1].version or snapshots[1].total == '' then return { 'INVALID' } end

local window, evictions, state = marker(KEYS[1], ARGV[2])
if state ~= 'open' then
  if ARGV[3] ~= window then return { 'RECOVERING', window } end
  redis.call('HSET', KEYS[1], 'state', 'open')
  return { 'NEED_LOAD', window, evictions }
end

local now, ticket = now_ms(), ARGV[4] == window and ARGV[5] == evictions
local accounts, load = load_accounts(snapshots, window, ticket, now)
local a = accounts[1]
if a.dirty then write_account(a, window, now) end
if load then return { 'NEED_LOAD', window, evictions } end
local left = tonumber(a.total) - by - a.used - a.frozen + math.min(a.old, a.lapsed)
return report({ left >= 0 and 'FITS' or 'BELOW' }, a)
