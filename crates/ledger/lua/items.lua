#!lua
-- Shared by every script, after the limits: the freezes of a beat or settle.

-- They stand from ARGV[3] on; nil where one is not valid. Per item: freezes key, member, request, state, want, need, amount,
-- progress, created, version, gateway, model, scopes, tokens taken, number of accounts, then as many keys of accounts, of
-- rates and of requests in flight.
local function read_items()
  local items, at = {}, 3
  while at <= #ARGV do
    local item = { freezes = KEYS[tonumber(ARGV[at])], member = ARGV[at + 1], rid = ARGV[at + 2], state = ARGV[at + 3],
      want = ARGV[at + 4], need = ARGV[at + 5], amount = amount(ARGV[at + 6]), progress = amount(ARGV[at + 7]),
      created = ARGV[at + 8], version = ARGV[at + 9], gateway = ARGV[at + 10], model = ARGV[at + 11], scopes = ARGV[at + 12],
      tokens = amount(ARGV[at + 13]), accounts = {}, rates = {}, running = {} }
    if not item.amount or not item.progress or item.amount < 0 or item.progress < 0 then return nil end
    if item.state ~= 'A' and (item.state ~= 'S' or item.amount ~= item.progress) then return nil end
    if not item.tokens or item.tokens < 0 then return nil end
    local count = tonumber(ARGV[at + 14])
    for i = 1, count do
      item.accounts[i] = KEYS[tonumber(ARGV[at + 14 + i])]
      item.rates[i] = KEYS[tonumber(ARGV[at + 14 + count + i])]
      item.running[i] = KEYS[tonumber(ARGV[at + 14 + 2 * count + i])]
    end
    items[#items + 1] = item
    at = at + 15 + 3 * count
  end
  return items
end

-- Writes one item over `old` (whose version stays: it decides what the freeze counts against), and what it sets aside more or
-- less into its accounts. An active one is in flight; a settled one no more, and what it had reserved of token rates is corrected, once: a freeze that Redis lost has no reservation.
local function put_item(item, old, window, now, lease)
  if old then item.version = old.version end
  item.rate = old and old.rate or ''
  if item.state == 'S' and item.rate ~= '' then
    correct(item.rate, item.rates, item.tokens, now)
    item.rate = ''
  end
  for _, key in ipairs(item.running) do
    if item.state == 'A' then set_running(key, item.rid, now, lease) else redis.call('ZREM', key, item.rid) end
  end
  redis.call('HSET', item.freezes, item.rid, pack_freeze(item, now))
  redis.call('ZADD', KEYS[2], text(now), item.member)
  add_frozen(item.accounts, window, item.amount - (old and old.amount or 0), item.version)
end
