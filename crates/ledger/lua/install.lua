#!lua flags=allow-oom
-- install: pushes newer totals of accounts of one home (a top-up, a suspension) and reports what Redis then holds.
-- Guarantee: takes only what is newer; an absent account is installed untrusted, so that an older snapshot under way loses.
-- KEYS  1 marker, 2 the home's freezes, 3.. accounts, then the accounts of the pools that the members among them are in
-- ARGV  1 nonce, 2 number of accounts, 3.. a snapshot each
-- Returns OK window state, then per account '1' (trusted) or '0' and its numbers; INVALID
local snapshots, last = {}, 2 + tonumber(ARGV[2])
for i = 3, last do
  snapshots[i] = read_snapshot(3 + (i - 3) * SNAPSHOT)
  if not snapshots[i] or not snapshots[i].version then return { 'INVALID' } end
end
local window, _, state = marker(KEYS[1], ARGV[1])
local now, reply = now_ms(), { 'OK', window, state }
for i = 3, last do
  local a = read_account(KEYS[i], snapshots[i].scope, window)
  install(a, snapshots[i], KEYS[2], false)
  if a.dirty then write_account(a, window, now) end
  reply[#reply + 1] = (a.trusted and state == 'open') and '1' or '0'
  report(reply, a)
end
for i = 3, last do
  if pool_of(KEYS[i]) then cover_again(KEYS[i], pool_of(KEYS[i]), window) end
end
return reply
