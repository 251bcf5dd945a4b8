#!lua
-- extend: grows one active freeze to a new total (never by a difference: a lost reply is simply sent again).
-- Guarantee: grows to min(want, what is available) where that reaches `need`, else changes nothing; waits in a window.
-- KEYS  1 marker, 2 index, 3 the home's freezes, 4.. accounts: key, project, tenant; of a pool's member that and the pool
-- ARGV  1 request, 2 new total wanted, 3 least new total, 4 nonce, 5 window waited out, 6 and 7 ticket, 8.. a snapshot each
-- Returns EXTENDED amount, numbers per account; REFUSED account limit available wait most, numbers of it; NEED_LOAD; RECOVERING; INACTIVE; GONE; INVALID
local rid, want, need = ARGV[1], amount(ARGV[2]), amount(ARGV[3])
if not want or not need or need <= 0 or want < need then return { 'INVALID' } end
local snapshots = read_snapshots(8, #KEYS - 3)
if not snapshots then return { 'INVALID' } end

local window, evictions, state = marker(KEYS[1], ARGV[4])
if state ~= 'open' then
  if ARGV[5] ~= window then return { 'RECOVERING', window } end
  redis.call('HSET', KEYS[1], 'state', 'open')
  return { 'NEED_LOAD', window, evictions }
end

local now, ticket = now_ms(), ARGV[6] == window and ARGV[7] == evictions
local f = unpack_freeze(redis.call('HGET', KEYS[3], rid))
local accounts, load = load_accounts(snapshots, window, ticket, now)

local function decide()
  if not f or f.state ~= 'A' then return { 'GONE' } end
  if want <= f.amount then return { 'EXTENDED', text(f.amount) }, 0 end
  if load then return { 'NEED_LOAD', window, evictions } end
  local refusal, more = decide_amount(accounts, need - f.amount, want - f.amount, tonumber(f.version))
  if refusal then return refusal end
  local total
  refusal, total = cap(accounts, need, f.amount + more)
  if refusal then return refusal end
  more = math.max(total - f.amount, 0)
  return { 'EXTENDED', text(f.amount + more) }, more
end

local reply, more = decide()
if more and more > 0 then
  f.amount = f.amount + more
  redis.call('HSET', KEYS[3], rid, pack_freeze(f, f.beat))
  for _, a in ipairs(accounts) do grow(a, more, tonumber(f.version)) end
  if accounts[5] then cover(accounts[4], accounts[5]) end
end
for _, a in ipairs(accounts) do
  if a.dirty then write_account(a, window, now)
  elseif more and more > 0 then write_frozen(a, now) end
  if more and a.present then report(reply, a) end
end
return reply
