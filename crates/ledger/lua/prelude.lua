#!lua
-- Shared by every script: numbers, the marker, freezes and accounts. Writes nothing but a new window (see marker).
local MAX = 9007199254740991
-- The packed limits of an account: rpm, rpd, tpm, tpd, in_flight, max_per_request, each '' where there is none.
local LIMITS = '^(%d*),(%d*),(%d*),(%d*),(%d*),(%d*)$'

local function text(x) return string.format('%.0f', x) end

-- An integer within the bounds of an amount, or nil.
local function amount(x)
  local n = tonumber(x)
  if n == nil or n ~= n or n > MAX or n < -MAX or n ~= math.floor(n) then return nil end
  return n
end

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Window, eviction count and state of the shard. A missing marker or another run_id starts a new window named `nonce`:
-- that covers restart, failover, FLUSHALL, a lost AOF tail and an old snapshot file.
local function marker(key, nonce)
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  local m = redis.call('HMGET', key, 'run', 'window', 'evictions', 'state')
  if m[1] == run then return m[2], m[3], m[4] end
  redis.call('DEL', key)
  redis.call('HSET', key, 'run', run, 'window', nonce, 'evictions', '0', 'state', 'recovering')
  return nonce, '0', 'recovering'
end

local function unpack_freeze(s)
  if not s then return nil end
  local f = {}
  f.state, f.want, f.need, f.amount, f.progress, f.beat, f.created, f.version, f.gateway, f.model, f.scopes,
    f.rate = string.match(s, '^(%a)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]*)|(.*)$')
  f.amount, f.progress = tonumber(f.amount), tonumber(f.progress)
  return f
end

local function pack_freeze(f, beat)
  return table.concat({ f.state, f.want, f.need, text(f.amount), text(f.progress), text(beat), f.created, f.version,
    f.gateway, f.model, f.scopes, f.rate }, '|')
end

-- Sum of the home's freezes that touch the scope (what survived of an account that Redis lost), and of those among them
-- that were frozen at a version below `lapse`.
local function frozen_sums(freezes, scope, lapse)
  local sum, old = 0, 0
  for _, s in ipairs(redis.call('HVALS', freezes)) do
    local f = unpack_freeze(s)
    if string.find(f.scopes .. ',', scope .. ',', 1, true) then
      sum = sum + f.amount
      if tonumber(f.version) < lapse then old = old + f.amount end
    end
  end
  return sum, old
end

-- What of a member's guarantee is used or set aside is not kept back from the others any more: the account of the pool holds
-- the sum of these (`covered`) beside what its members' guarantees have left by Postgres (`share`).
local function covered(share, used, frozen) return math.min(frozen, math.max(share - used, 0)) end

-- Takes a member's change into its pool: both were read, write_account or write_frozen writes.
local function cover(member, pool)
  local now = covered(member.share, member.used, member.frozen)
  pool.covered, member.covered = pool.covered + now - member.covered, now
end

-- The same by their keys, where Redis holds both in this window.
local function cover_again(member, pool, window)
  local m = redis.call('HMGET', member, 'window', 'share', 'used', 'frozen', 'covered')
  local p = redis.call('HMGET', pool, 'window', 'covered')
  if m[1] ~= window or p[1] ~= window then return end
  local now, before = covered(tonumber(m[2]), tonumber(m[3]), tonumber(m[4])), tonumber(m[5])
  if now == before then return end
  redis.call('HSET', member, 'covered', text(now))
  redis.call('HSET', pool, 'covered', text(tonumber(p[2]) + now - before))
end

-- What the pool keeps for the other members.
local function kept_back(member, pool)
  return math.max(pool.share - pool.covered - math.max(member.share - member.used - member.frozen, 0), 0)
end

-- The key of the account of a member's pool; nil for any other account.
local function pool_of(key)
  local home, label = string.match(key, '^(.+)/[^/]+(:[^:]*)$')
  return home and home .. label
end

local function read_account(key, scope, window)
  local v = redis.call('HMGET', key, 'window', 'trusted', 'incarnation', 'version', 'total', 'credit', 'limit', 'used',
    'frozen', 'status', 'valid_until', 'limits', 'lapse_version', 'lapsed', 'old')
  local a = { key = key, scope = scope, present = v[1] == window, pooled = string.sub(scope, 1, 5) == 'pool_', covered = 0 }
  if a.present then
    a.trusted, a.incarnation, a.version = v[2] == '1', tonumber(v[3]), tonumber(v[4])
    a.total, a.credit, a.limit, a.used, a.frozen = v[5], v[6], v[7], tonumber(v[8]), tonumber(v[9])
    a.status, a.valid_until, a.limits = v[10], v[11], v[12] or ''
    a.lapse_version, a.lapsed, a.old = tonumber(v[13]) or 0, tonumber(v[14]) or 0, tonumber(v[15]) or 0
    if a.pooled then
      local p = redis.call('HMGET', key, 'share', 'covered')
      a.share, a.covered = tonumber(p[1]), tonumber(p[2])
    end
  end
  return a
end

-- A snapshot is thirteen arguments from `at`: scope, incarnation, version, total, credit, limit, used, status, valid_until
-- ('' = none), lapse_version, lapsed, limits, share ('' unless of a pool or member). Only the scope is set where the caller has no snapshot. nil: not valid.
local SNAPSHOT = 13
local function read_snapshot(at)
  local s = { scope = ARGV[at], incarnation = amount(ARGV[at + 1]), version = amount(ARGV[at + 2]), total = ARGV[at + 3],
    credit = ARGV[at + 4], limit = ARGV[at + 5], used = amount(ARGV[at + 6]), status = ARGV[at + 7], valid_until = ARGV[at + 8],
    lapse_version = amount(ARGV[at + 9]), lapsed = amount(ARGV[at + 10]), limits = ARGV[at + 11], share = amount(ARGV[at + 12]) }
  if ARGV[at + 2] == '' then return { scope = s.scope } end
  if not (s.incarnation and s.version and s.used and s.status and s.lapse_version and s.lapsed) then return nil end
  if s.limit ~= '' and not amount(s.limit) or s.total ~= '' and not amount(s.total) or not amount(s.credit) then return nil end
  if s.limits ~= '' and not string.find(s.limits, LIMITS) then return nil end
  if string.sub(s.scope, 1, 5) == 'pool_' and not s.share then return nil end
  return s
end

local function older(a, s)
  return a.incarnation < s.incarnation or a.incarnation == s.incarnation and a.version < s.version
end

-- Takes the snapshot into the account where it is newer, or where there is no account; trusts it where the caller holds
-- the current ticket and the snapshot is not behind. Marks `dirty`; write_account writes.
local function install(a, s, freezes, ticket)
  if not s.version then return end
  local take = not a.present or older(a, s)
  if not a.present then
    a.present, a.trusted, a.dirty = true, false, true
    a.frozen, a.old = frozen_sums(freezes, a.scope, s.lapse_version)
  elseif take and a.lapse_version ~= s.lapse_version then
    local _, old = frozen_sums(freezes, a.scope, s.lapse_version)
    a.old = old
  end
  if take then
    a.lapse_version, a.lapsed = s.lapse_version, s.lapsed
    a.incarnation, a.version, a.total, a.credit, a.limit, a.used = s.incarnation, s.version, s.total, s.credit, s.limit, s.used
    a.status, a.valid_until, a.limits, a.share, a.dirty = s.status, s.valid_until, s.limits, s.share, true
  end
  if ticket and not a.trusted and not (s.incarnation < a.incarnation or s.incarnation == a.incarnation and s.version < a.version) then
    a.trusted, a.dirty = true, true
  end
end

local function write_account(a, window, now)
  redis.call('HSET', a.key, 'window', window, 'trusted', a.trusted and '1' or '0', 'incarnation', text(a.incarnation),
    'version', text(a.version), 'total', a.total, 'credit', a.credit, 'limit', a.limit, 'used', text(a.used),
    'frozen', text(a.frozen), 'status', a.status, 'valid_until', a.valid_until, 'lapse_version', text(a.lapse_version),
    'lapsed', text(a.lapsed), 'old', text(a.old), 'limits', a.limits, 'updated_at', text(now))
  if a.pooled then redis.call('HSET', a.key, 'share', text(a.share), 'covered', text(a.covered)) end
end

-- Appends the account's numbers to a reply: total, credit, limit, used, frozen, version, valid_until, status.
local function report(reply, a)
  for _, v in ipairs({ a.total, a.credit, a.limit, text(a.used), text(a.frozen), text(a.version), a.valid_until, a.status }) do
    reply[#reply + 1] = v
  end
  return reply
end

-- What the account can still set aside; nil = no limit. Freezes older than the last lapse (`old`) count against what lapsed
-- first; only a freeze of their age (`version`) may set aside more of that.
local function available(a, version)
  if a.limit == '' then return nil end
  local left = tonumber(a.limit) - a.used - a.frozen + math.min(a.old, a.lapsed)
  if version and version < a.lapse_version then left = left + math.max(a.lapsed - a.old, 0) end
  return left
end

-- Adds `more`, frozen at `version`, to an account that was read; write_frozen writes.
local function grow(a, more, version)
  a.frozen = a.frozen + more
  if version < a.lapse_version then a.old = a.old + more end
end

local function write_frozen(a, now)
  redis.call('HSET', a.key, 'frozen', text(a.frozen), 'old', text(a.old), 'updated_at', text(now))
  if a.pooled then redis.call('HSET', a.key, 'covered', text(a.covered)) end
end

-- Adds to `frozen` of those of a freeze's accounts that Redis holds in this window. One that it does not hold sums its freezes
-- when it is installed.
local function add_frozen(keys, window, delta, version)
  if delta == 0 then return end
  for _, key in ipairs(keys) do
    local v = redis.call('HMGET', key, 'window', 'frozen', 'lapse_version', 'old')
    if v[1] == window then
      redis.call('HSET', key, 'frozen', text(tonumber(v[2]) + delta))
      if tonumber(version) < (tonumber(v[3]) or 0) then redis.call('HSET', key, 'old', text((tonumber(v[4]) or 0) + delta)) end
    end
  end
  if keys[5] then cover_again(keys[4], keys[5], window) end
end

-- The accounts KEYS[4..], with the snapshots from ARGV[first] on installed (the home's freezes are KEYS[3]).
-- Second: true where Postgres must be read first: an account is absent, untrusted, or its totals have changed by themselves.
local function load_accounts(snapshots, window, ticket, now)
  local accounts, load = {}, false
  for i, s in ipairs(snapshots) do
    local a = read_account(KEYS[3 + i], s.scope, window)
    install(a, s, KEYS[3], ticket)
    accounts[i] = a
    load = load or not a.present or not a.trusted or (a.valid_until ~= '' and now >= tonumber(a.valid_until))
  end
  local member, pool = accounts[4], accounts[5]
  if pool and member.present and pool.present and (member.dirty or pool.dirty) then
    local before = member.covered
    cover(member, pool)
    if member.covered ~= before then member.dirty, pool.dirty = true, true end
  end
  return accounts, load
end

-- The snapshots for so many accounts, KEYS[4..], from ARGV[first] on; nil where one is not valid.
local function read_snapshots(first, count)
  local snapshots = {}
  for i = 1, count do
    local s = read_snapshot(first + (i - 1) * SNAPSHOT)
    if not s then return nil end
    snapshots[i] = s
  end
  return snapshots
end

-- The first refusal over the accounts in order (status before amount), or how much of `want` more they allow, at least `need` more; `version`: of the freeze that grows.
local function decide_amount(accounts, need, want, version)
  for i, a in ipairs(accounts) do
    if a.status ~= 'active' then return { 'INACTIVE', tostring(i), a.status } end
  end
  for i, a in ipairs(accounts) do
    local left = available(a, version)
    if left and i == 5 then left = left - kept_back(accounts[4], a) end
    if left and left < need then return report({ 'REFUSED', tostring(i), 'quota', text(left), '', '' }, a) end
    if left and left < want then want = left end
  end
  return nil, want
end
