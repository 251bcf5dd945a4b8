#!lua flags=no-writes,allow-oom
-- read: what Redis holds of some accounts, for people and for comparison; part of no decision.
-- KEYS  1 marker, 2.. accounts
-- ARGV  a scope per account
-- Returns OK window state, then per account 'trusted', 'untrusted' or 'absent' and its numbers (empty where absent)
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local m = redis.call('HMGET', KEYS[1], 'run', 'window', 'state')
local window = m[1] == run and m[2] or ''
local reply = { 'OK', window, window ~= '' and m[3] or 'recovering' }
for i = 2, #KEYS do
  local a = read_account(KEYS[i], ARGV[i - 1], window)
  if a.present and window ~= '' then
    reply[#reply + 1] = a.trusted and 'trusted' or 'untrusted'
    report(reply, a)
  else
    for _, v in ipairs({ 'absent', '', '', '', '', '', '', '', '' }) do reply[#reply + 1] = v end
  end
end
return reply
