#!lua
-- freeze: sets quota aside for one request over key, project and tenant, and the pool that this is in, all or nothing.
-- Guarantee: admits max(need, min(want, available)) only where every account is trusted, in force and has `need` left, and
-- no limit of any level forbids; a refusal changes no byte (snapshots passed along are installed all the same, they are a
-- load). Idempotent by request id: the same call again counts nothing twice.
-- KEYS  1 marker, 2 index, 3 the home's freezes, then as many of each: accounts (key, project, tenant; of a pool's member that
--       and the pool after them), rates, in flight
-- ARGV  1 request, 2 index member, 3 want, 4 need, 5 '1' = priced (an amount of 0 is INVALID), 6 gateway, 7 model, 8 nonce,
--       9 window that the caller waited out, 10 and 11 ticket (window, evictions), 12 scopes joined by ',',
--       13 lease in ms, 14 and 15 tokens wanted and needed, 16.. a snapshot each
-- Returns FROZEN | ALREADY_FROZEN amount version tokens, numbers per account, uses of limits; REFUSED account limit available wait most, numbers of it;
--         NEED_LOAD window evictions; RECOVERING window; INACTIVE account status; CONFLICT; INVALID
local rid, want, need, waited = ARGV[1], amount(ARGV[3]), amount(ARGV[4]), ARGV[9]
if not want or not need or need < 0 or want < need or (ARGV[5] == '1' and need == 0) then return { 'INVALID' } end
local lease, tokens_want, tokens_need = amount(ARGV[13]), amount(ARGV[14]), amount(ARGV[15])
if not lease or lease <= 0 or not tokens_want or not tokens_need or tokens_need < 0 or tokens_want < tokens_need then return { 'INVALID' } end
local snapshots = read_snapshots(16, (#KEYS - 3) / 3)
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
read_limits(accounts, 3 + #accounts, now)
local tenant = accounts[3] or accounts[#accounts]

local function decide()
  if load then return { 'NEED_LOAD', window, evictions } end
  if old then
    if tonumber(old.want) ~= want or tonumber(old.need) ~= need then return { 'CONFLICT' } end
    return { 'ALREADY_FROZEN', text(old.amount), old.version, string.match(old.rate, ':(%d+):') or text(tokens_want) }
  end
  local refusal, give = decide_amount(accounts, need, want)
  if refusal then return refusal end
  local tokens
  refusal, give = cap(accounts, need, give)
  if refusal then return refusal end
  refusal, tokens = decide_limits(accounts, tokens_want, tokens_need, now)
  if refusal then return refusal end
  if redis.call('HLEN', KEYS[3]) >= 10000 then
    return report({ 'REFUSED', tostring(#accounts), 'live_freezes', '0', '1000', '10000' }, accounts[#accounts])
  end
  return { 'FROZEN', text(give), text(tenant.version), text(tokens) }, give, tokens
end

local reply, give, tokens = decide()
if give then
  local f = { state = 'A', want = ARGV[3], need = ARGV[4], amount = give, progress = 0, created = text(now),
    version = text(tenant.version), gateway = ARGV[6], model = ARGV[7], scopes = ARGV[12],
    rate = count_in(accounts, rid, tokens, now, lease) }
  redis.call('HSET', KEYS[3], rid, pack_freeze(f, now))
  redis.call('ZADD', KEYS[2], text(now), ARGV[2])
  for _, a in ipairs(accounts) do grow(a, give, tenant.version) end
  if accounts[5] then cover(accounts[4], accounts[5]) end
end
for _, a in ipairs(accounts) do
  if a.dirty then write_account(a, window, now)
  elseif give then write_frozen(a, now) end
  if reply[1] == 'FROZEN' or reply[1] == 'ALREADY_FROZEN' then report(reply, a) end
end
if give or reply[1] == 'ALREADY_FROZEN' then report_limits(reply, accounts, now, give or old.amount) end
return reply
