#!lua
-- freeze: sets quota aside for one request over key, project and tenant, all or nothing.
-- Guarantee: admits max(need, min(want, available)) only where every account is trusted, in force and has `need` left; a
-- refusal changes no byte (snapshots passed along are installed all the same, they are a load). Idempotent by request id.
-- KEYS  1 marker, 2 index, 3 the tenant's freezes, 4.. accounts: key, project, tenant
-- ARGV  1 request, 2 index member, 3 want, 4 need, 5 '1' = priced (an amount of 0 is INVALID), 6 gateway, 7 model, 8 nonce,
--       9 window that the caller waited out, 10 and 11 ticket (window, evictions), 12 scopes joined by ',', 13.. a snapshot each
-- Returns FROZEN | ALREADY_FROZEN amount version, numbers per account; REFUSED account limit available, numbers of it;
--         NEED_LOAD window evictions; RECOVERING window; INACTIVE account status; CONFLICT; INVALID
local rid, want, need, waited = ARGV[1], amount(ARGV[3]), amount(ARGV[4]), ARGV[9]
if not want or not need or need < 0 or want < need or (ARGV[5] == '1' and need == 0) then return { 'INVALID' } end
local snapshots = read_snapshots(13)
if not snapshots then return { 'INVALID' } end

local window, evictions, state = marker(KEYS[1], ARGV[8])
if state ~= 'open' then
  if waited ~= window then return { 'RECOVERING', window } end
  redis.call('HSET', KEYS[1], 'state', 'open')
  return { 'NEED_LOAD', window, evictions }
end

local now, ticket = now_ms(), ARGV[10] == window and ARGV[11] == evictions
local accounts, load = load_accounts(snapshots, window, ticket, now)
local old = unpack_freeze(redis.call('HGET', KEYS[3], rid))

local function decide()
  if load then return { 'NEED_LOAD', window, evictions } end
  if old then
    if tonumber(old.want) ~= want or tonumber(old.need) ~= need then return { 'CONFLICT' } end
    return { 'ALREADY_FROZEN', text(old.amount), old.version }
  end
  local refusal, give = decide_amount(accounts, need, want)
  if refusal then return refusal end
  if redis.call('HLEN', KEYS[3]) >= 10000 then
    return report({ 'REFUSED', tostring(#accounts), 'live_freezes', '0' }, accounts[#accounts])
  end
  return { 'FROZEN', text(give), text(accounts[#accounts].version) }, give
end

local reply, give = decide()
if give then
  local f = { state = 'A', want = ARGV[3], need = ARGV[4], amount = give, progress = 0, created = text(now),
    version = text(accounts[#accounts].version), gateway = ARGV[6], model = ARGV[7], scopes = ARGV[12] }
  redis.call('HSET', KEYS[3], rid, pack_freeze(f, now))
  redis.call('ZADD', KEYS[2], text(now), ARGV[2])
end
for _, a in ipairs(accounts) do
  if give then grow(a, give, accounts[#accounts].version) end
  if a.dirty then write_account(a, window, now)
  elseif give then write_frozen(a, now) end
  if reply[1] == 'FROZEN' or reply[1] == 'ALREADY_FROZEN' then report(reply, a) end
end
return reply
