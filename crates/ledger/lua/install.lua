#!lua flags=allow-oom
-- install: pushes newer totals of one tenant's accounts (a top-up, a suspension) and reports what Redis then holds.
-- Guarantee: takes only what is newer; an absent account is installed untrusted, so that an older snapshot under way loses.
-- KEYS  1 marker, 2 the tenant's freezes, 3.. accounts
-- ARGV  1 nonce, 2.. a snapshot each
-- Returns OK window state, then per account '1' (trusted) or '0' and its numbers; INVALID
local snapshots = {}
for i = 3, #KEYS do
  snapshots[i] = read_snapshot(2 + (i - 3) * SNAPSHOT)
  if not snapshots[i] or not snapshots[i].version then return { 'INVALID' } end
end
local window, _, state = marker(KEYS[1], ARGV[1])
local now, reply = now_ms(), { 'OK', window, state }
for i = 3, #KEYS do
  local a = read_account(KEYS[i], snapshots[i].scope, window)
  install(a, snapshots[i], KEYS[2], false)
  if a.dirty then write_account(a, window, now) end
  reply[#reply + 1] = (a.trusted and state == 'open') and '1' or '0'
  report(reply, a)
end
return reply
