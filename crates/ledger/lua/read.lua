#!lua flags=no-writes,allow-oom
-- read: what Redis holds of some accounts and of their limits' use, for people and for comparison; part of no decision.
-- KEYS  1 marker, then as many of each: accounts, rates, in flight
-- ARGV  a scope per account
-- Returns OK window state, then per account 'trusted', 'untrusted' or 'absent' and its numbers (empty where absent), then uses of limits
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local m = redis.call('HMGET', KEYS[1], 'run', 'window', 'state')
local window = m[1] == run and m[2] or ''
local reply = { 'OK', window, window ~= '' and m[3] or 'recovering' }
local accounts, now = {}, now_ms()
for i, scope in ipairs(ARGV) do
  local a = read_account(KEYS[1 + i], scope, window)
  accounts[i] = a
  if a.present and window ~= '' then
    reply[#reply + 1] = a.trusted and 'trusted' or 'untrusted'
    report(reply, a)
  else
    for _, v in ipairs({ 'absent', '', '', '', '', '', '', '', '' }) do reply[#reply + 1] = v end
  end
end
read_limits(accounts, 1 + #accounts, now)
report_limits(reply, accounts, now, 0)
return reply
