#!lua
-- Shared by every script, after the prelude: rate windows, requests in flight, the most for one request. None of it is
-- money: a window expires, an entry in flight has a lease of its own. The form of each is in README.md.
local WINDOWS = { { name = 'rpm', ms = 60000 }, { name = 'rpd', ms = 86400000 }, { name = 'tpm', ms = 60000, tokens = 1 },
  { name = 'tpd', ms = 86400000, tokens = 2 } }
local ENTRIES = 128

-- The limits of an account by name; nil where there is none.
local function unpack_limits(packed)
  local l = {}
  l.rpm, l.rpd, l.tpm, l.tpd, l.in_flight, l.max_per_request = string.match(packed or '', LIMITS)
  for name, limit in pairs(l) do l[name] = tonumber(limit) end
  return l
end

-- One window without the entries that have slid out. Its list is read from the front, as far as it has: an entry is
-- `at:count,` and counts until `at` + the window.
local function read_window(window, packed, now)
  local w = { name = window.name, ms = window.ms, tokens = window.tokens, sum = 0, entries = 0, list = '' }
  local sum, entries, from = string.match(packed or '', '^(%d+) (%d+) ()')
  if not sum then return w end
  w.sum, w.entries = tonumber(sum), tonumber(entries)
  while w.entries > 0 do
    local at, count, behind = string.match(packed, '^(%d+):(%d+),()', from)
    if tonumber(at) + w.ms > now and tonumber(at) <= now + w.ms then break end
    w.sum, w.entries, from = w.sum - tonumber(count), w.entries - 1, behind
  end
  if w.entries == 0 then w.sum = 0 end
  w.list = string.sub(packed, from)
  w.last = tonumber(string.match(string.sub(w.list, -40), '(%d+):%d+,$'))
  return w
end

local function pack_window(w) return text(w.sum) .. ' ' .. text(w.entries) .. ' ' .. w.list end

-- Makes one entry of those in one sixtieth of the window, at the latest of them.
local function compact(w)
  local parts, cell, last_cell, last, sum = {}, w.ms / 60, nil, nil, 0
  for at, count in string.gmatch(w.list, '(%d+):(%d+),') do
    local this = math.floor(tonumber(at) / cell)
    if this ~= last_cell then sum, last = 0, #parts + 1 end
    sum, last_cell = sum + tonumber(count), this
    parts[last] = at .. ':' .. text(sum) .. ','
  end
  w.list, w.entries = table.concat(parts), #parts
end

-- Counts at this instant: an entry of its own, but never one before the last.
local function count_up(w, now, count)
  if count == 0 then return end
  if w.entries >= ENTRIES then compact(w) end
  if w.last and w.last >= now then
    local from = string.find(w.list, '%d+:%d+,$', -40)
    local before = string.match(w.list, ':(%d+),$', from)
    w.list = string.sub(w.list, 1, from - 1) .. text(w.last) .. ':' .. text(tonumber(before) + count) .. ','
  else
    w.list, w.entries, w.last = w.list .. text(now) .. ':' .. text(count) .. ',', w.entries + 1, now
  end
  w.sum = w.sum + count
end

-- Adds a difference to the entry that took a reservation at `at`. True where there is one.
local function correct_entry(w, at, difference)
  local from = 1
  while true do
    local entry, count, behind = string.match(w.list, '^(%d+):(%d+),()', from)
    if not entry then return false end
    if tonumber(entry) >= at then
      local corrected = math.max(0, tonumber(count) + difference)
      w.list = string.sub(w.list, 1, from - 1) .. entry .. ':' .. text(corrected) .. ',' .. string.sub(w.list, behind)
      w.sum = w.sum + corrected - tonumber(count)
      return true
    end
    from = behind
  end
end

-- Ms until the window has room for `cost`; nil where it never has.
local function wait_for(w, cost, now)
  local sum = w.sum
  for at, count in string.gmatch(w.list, '(%d+):(%d+),') do
    sum = sum - tonumber(count)
    if sum + cost <= w.most then return tonumber(at) + w.ms - now end
  end
end

-- Reads what counts against the limits of the accounts now. Rates are KEYS[first + i], in flight KEYS[first + #accounts + i].
local function read_limits(accounts, first, now)
  for i, a in ipairs(accounts) do
    a.max, a.windows = unpack_limits(a.limits), {}
    a.rates, a.running = KEYS[first + i], KEYS[first + #accounts + i]
    local packed = next(a.max) and redis.call('HMGET', a.rates, 'rpm', 'rpd', 'tpm', 'tpd')
    for k, window in ipairs(WINDOWS) do
      if a.max[window.name] then
        local w = read_window(window, packed[k], now)
        w.most = a.max[window.name]
        a.windows[#a.windows + 1] = w
      end
    end
    if a.max.in_flight then a.in_flight = redis.call('ZCOUNT', a.running, '(' .. text(now), '+inf') end
  end
end

-- `total` cut to the most that one request may set aside; a refusal where not even `need` is allowed.
local function cap(accounts, need, total)
  for i, a in ipairs(accounts) do
    local most = unpack_limits(a.limits).max_per_request
    if most and most < need then return report({ 'REFUSED', tostring(i), 'max_per_request', text(most), '', text(most) }, a) end
    if most and most < total then total = most end
  end
  return nil, total
end

-- The refusal that takes longest to clear, or how many tokens to reserve: `want`; where a limit itself is below that, what
-- is left, at least `need`.
local function decide_limits(accounts, want, need, now)
  local least, give, worst, longest = want, want, nil, 0
  for _, a in ipairs(accounts) do
    for _, w in ipairs(a.windows) do
      if w.tokens and w.most < want then least = need end
    end
  end
  local function refuse(i, name, most, left, wait)
    if worst and (wait or math.huge) <= longest then return end
    longest = wait or math.huge
    worst = report({ 'REFUSED', tostring(i), name, text(math.max(left, 0)), wait and text(wait) or '', text(most) }, accounts[i])
  end
  for i, a in ipairs(accounts) do
    if a.in_flight and a.in_flight >= a.max.in_flight then refuse(i, 'in_flight', a.max.in_flight, 0, 1000) end
    for _, w in ipairs(a.windows) do
      local cost, left = w.tokens and least or 1, w.most - w.sum
      if left < cost then refuse(i, w.name, w.most, left, wait_for(w, cost, now))
      elseif w.tokens then give = math.min(give, left) end
    end
  end
  return worst, give
end

-- In flight from now on for a lease. The key lives as long as the longest lease in it.
local function set_running(key, rid, now, lease)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
  redis.call('ZADD', key, text(now + lease), rid)
  if redis.call('PTTL', key) < lease then redis.call('PEXPIRE', key, text(lease)) end
end

-- Counts an admitted request. Returns what its freeze remembers of the tokens reserved: '' or `at:tokens:marks`, a mark per
-- account: 1 in its minute, 2 in its day, 3 in both.
local function count_in(accounts, rid, tokens, now, lease)
  local marks = {}
  for i, a in ipairs(accounts) do
    local fields, ttl, mark = {}, 0, 0
    for _, w in ipairs(a.windows) do
      count_up(w, now, w.tokens and tokens or 1)
      fields[#fields + 1], fields[#fields + 2] = w.name, pack_window(w)
      ttl, mark = math.max(ttl, w.ms), mark + (w.tokens or 0)
    end
    if ttl > 0 then
      redis.call('HSET', a.rates, unpack(fields))
      redis.call('PEXPIRE', a.rates, text(ttl))
    end
    set_running(a.running, rid, now, lease)
    if a.in_flight then a.in_flight = a.in_flight + 1 end
    marks[i] = tostring(mark)
  end
  local all = table.concat(marks)
  return string.find(all, '[123]') and text(now) .. ':' .. text(tokens) .. ':' .. all or ''
end

-- Replaces what was reserved by what was taken, in the entries that took the reservation and nowhere else.
local function correct(rate, keys, tokens, now)
  local at, reserved, marks = string.match(rate, '^(%d+):(%d+):(%d+)$')
  local difference = tokens - tonumber(reserved)
  for i, key in ipairs(difference ~= 0 and keys or {}) do
    local mark = tonumber(string.sub(marks, i, i))
    for _, window in ipairs({ WINDOWS[3], WINDOWS[4] }) do
      local took = (mark == window.tokens or mark == 3) and tonumber(at) + window.ms > now
      local w = took and read_window(window, redis.call('HGET', key, window.name), now)
      if w and correct_entry(w, tonumber(at), difference) then redis.call('HSET', key, window.name, pack_window(w)) end
    end
  end
end

-- Appends per limit: account, name, limit, used, ms until nothing counts any more ('' where that is no matter of time).
local function report_limits(reply, accounts, now, amount)
  for i, a in ipairs(accounts) do
    local function add(name, most, used, resets)
      for _, v in ipairs({ tostring(i), name, text(most), text(used), resets }) do reply[#reply + 1] = v end
    end
    for _, w in ipairs(a.windows) do add(w.name, w.most, w.sum, text(w.last and w.last + w.ms - now or 0)) end
    if a.in_flight then add('in_flight', a.max.in_flight, a.in_flight, '') end
    if a.max.max_per_request then add('max_per_request', a.max.max_per_request, amount, '') end
  end
end
