#!lua flags=allow-oom
-- confirm: after Postgres committed the outcomes, installs the newer totals of many accounts of one shard, then deletes the freezes.
-- Guarantee: totals before deletes, never the reverse; an account that is absent is installed untrusted first, so that an
-- older snapshot under way can't pass for the truth; with `expected` a freeze goes only if unchanged since it was read.
-- KEYS  1 marker, 2 index, then every key that is named by its number
-- ARGV  1 nonce, 2 number of snapshots; each: account key, freezes key, snapshot;
--       then per freeze: freezes key, member, request, expected ('' = as it is), number of accounts, their keys,
--       as many keys of requests in flight
-- Returns OK window deleted; INVALID
local installs, deletes, at = {}, {}, 3
for _ = 1, tonumber(ARGV[2]) do
  local s = read_snapshot(at + 2)
  if not s or not s.version then return { 'INVALID' } end
  installs[#installs + 1] = { key = KEYS[tonumber(ARGV[at])], freezes = KEYS[tonumber(ARGV[at + 1])], snapshot = s }
  at = at + 2 + SNAPSHOT
end
while at <= #ARGV do
  local d = { freezes = KEYS[tonumber(ARGV[at])], member = ARGV[at + 1], rid = ARGV[at + 2], expected = ARGV[at + 3], accounts = {},
    running = {} }
  local count = tonumber(ARGV[at + 4])
  for i = 1, count do
    d.accounts[i], d.running[i] = KEYS[tonumber(ARGV[at + 4 + i])], KEYS[tonumber(ARGV[at + 4 + count + i])]
  end
  deletes[#deletes + 1] = d
  at = at + 5 + 2 * count
end

local window = marker(KEYS[1], ARGV[1])
local now, deleted = now_ms(), 0
for _, i in ipairs(installs) do
  local a = read_account(i.key, i.snapshot.scope, window)
  install(a, i.snapshot, i.freezes, false)
  if a.dirty then write_account(a, window, now) end
end
for _, i in ipairs(installs) do
  if pool_of(i.key) then cover_again(i.key, pool_of(i.key), window) end
end
for _, d in ipairs(deletes) do
  local packed = redis.call('HGET', d.freezes, d.rid)
  if packed and (d.expected == '' or d.expected == packed) then
    redis.call('HDEL', d.freezes, d.rid)
    redis.call('ZREM', KEYS[2], d.member)
    local f = unpack_freeze(packed)
    add_frozen(d.accounts, window, -f.amount, f.version)
    deleted = deleted + 1
  elseif not packed then
    redis.call('ZREM', KEYS[2], d.member)
  end
  if not packed or d.expected == '' or d.expected == packed then
    for _, key in ipairs(d.running) do redis.call('ZREM', key, d.rid) end
  end
end
return { 'OK', window, text(deleted) }
