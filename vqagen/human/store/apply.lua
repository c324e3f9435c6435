-- Does a list of writes in one atomic step: the twin of sqlite_writes.py.
-- KEYS[1]: the key of the study. ARGV[1]: the beginning of all its keys. ARGV[2]: the writes as JSON, lists of texts.
-- Returns one list for each write, its kind first. Numbers stay texts: Lua's would lose digits.
--
-- Keys behind the beginning, of one hash slot: all (ids), s:ID (assignment), a:ID (trial -> answer), i:ID (idem ->
-- trial), e:ID (events; e: those of the study), r:RATER (task -> id), held (task-slot -> id), full (task -> held slots),
-- tries (task-slot -> attempts), leases (id by end), people (rater -> platform, person), number (of the last event).

local base = ARGV[1]
local FIELDS = { 'task', 'slot', 'rater', 'state', 'consent', 'claimed', 'expires', 'ended' }
local CHUNK = 1000 -- keys of one HMGET; Lua unpacks at most 8,000

local function call(command, name, ...)
    return redis.call(command, base .. name, ...)
end

local function log(id, kind, detail, now)
    local number = call('INCR', 'number')
    call('RPUSH', 'e:' .. id, number .. ' ' .. now .. ' ' .. #kind .. ' ' .. kind .. detail)
end

local function find(id)
    local values = call('HMGET', 's:' .. id, unpack(FIELDS))
    if not values[1] then return nil end
    local found = { id = id }
    for index, name in ipairs(FIELDS) do found[name] = values[index] end
    return found
end

local function place_of(assignment)
    return assignment.task .. '-' .. assignment.slot
end

local function reply(assignment)
    local values = { 'assignment', assignment.id }
    for index, name in ipairs(FIELDS) do values[index + 2] = assignment[name] end
    return values
end

local function hold(assignment, expires)
    call('HSET', 'held', place_of(assignment), assignment.id)
    call('HINCRBY', 'full', assignment.task, 1)
    call('ZADD', 'leases', expires, assignment.id)
end

local function release(assignment)
    if assignment.state ~= 'claimed' and assignment.state ~= 'complete' then return end
    call('HDEL', 'held', place_of(assignment))
    call('HINCRBY', 'full', assignment.task, -1)
end

local function finish(assignment, state, kind, now)
    if state ~= 'complete' then release(assignment) end
    call('ZREM', 'leases', assignment.id)
    call('HSET', 's:' .. assignment.id, 'state', state, 'ended', now)
    log(assignment.id, kind, '', now)
    return find(assignment.id)
end

-- Claims

local function claim_again(among, expires, now)
    for _, one in ipairs(among) do
        if one.state == 'claimed' and tonumber(one.expires) > tonumber(now) then return reply(one) end
    end
    for _, one in ipairs(among) do
        local is_free = one.state == 'expired' and call('HEXISTS', 'held', place_of(one)) == 0
        if one.state == 'claimed' or is_free then
            if is_free then hold(one, expires) else call('ZADD', 'leases', expires, one.id) end
            call('HSET', 's:' .. one.id, 'state', 'claimed', 'expires', expires, 'ended', '')
            log(one.id, 'claim', 'again', now)
            return reply(find(one.id))
        end
    end
    return reply(among[1])
end

local function first_with_room(name, fields, is_room)
    for start = 1, #fields, CHUNK do
        local found = call('HMGET', name, unpack(fields, start, math.min(start + CHUNK - 1, #fields)))
        for offset, value in ipairs(found) do
            if is_room(value) then return start + offset - 1 end
        end
    end
    return nil
end

local function free_place(tasks, slots, only)
    if only ~= '' then
        local places = {}
        for index, task in ipairs(tasks) do places[index] = task .. '-' .. only end
        local index = first_with_room('held', places, function(value) return not value end)
        if index then return tasks[index], only end
        return nil
    end
    local index = first_with_room('full', tasks, function(value) return tonumber(value or 0) < tonumber(slots) end)
    if not index then return nil end
    local slot = 0
    while call('HEXISTS', 'held', tasks[index] .. '-' .. slot) == 1 do slot = slot + 1 end
    return tasks[index], tostring(slot)
end

local function overdue_place(tasks, only, now)
    local order = {}
    for index = #tasks, 1, -1 do order[tasks[index]] = index end
    local best
    for _, id in ipairs(call('ZRANGEBYSCORE', 'leases', '-inf', now)) do
        local one = find(id)
        if best and one.expires ~= best.expires then break end
        one.order = order[one.task]
        if one.order and (only == '' or one.slot == only) then
            local is_before = best and (one.order < best.order
                or (one.order == best.order and tonumber(one.slot) < tonumber(best.slot)))
            if not best or is_before then best = one end
        end
    end
    if not best then return nil end
    finish(best, 'expired', 'expire', now)
    return best.task, best.slot
end

local function claim(rater, tasks, slots, only, most, consent, expires, now, person)
    local pairs_of_rater = call('HGETALL', 'r:' .. rater)
    local own, among = {}, {}
    for index = 1, #pairs_of_rater, 2 do own[pairs_of_rater[index]] = pairs_of_rater[index + 1] end
    for _, task in ipairs(tasks) do
        if own[task] then among[#among + 1] = find(own[task]) end
    end
    if #among > 0 then return claim_again(among, expires, now) end
    if #pairs_of_rater / 2 >= tonumber(most) then return { 'no_slot', '1' } end
    local task, slot = free_place(tasks, slots, only)
    if not task then task, slot = overdue_place(tasks, only, now) end
    if not task then return { 'no_slot', '' } end
    if person ~= '' then call('HSETNX', 'people', rater, person) end
    local attempt = call('HINCRBY', 'tries', task .. '-' .. slot, 1) - 1
    local made = { id = task .. '-' .. slot .. '-' .. attempt, task = task, slot = slot, rater = rater,
        state = 'claimed', consent = consent, claimed = now, expires = expires, ended = '' }
    for _, name in ipairs(FIELDS) do call('HSET', 's:' .. made.id, name, made[name]) end
    call('SADD', 'all', made.id)
    call('HSET', 'r:' .. rater, task, made.id)
    hold(made, expires)
    log(made.id, 'claim', '', now)
    return reply(made)
end

-- Answers

local function submit(id, trial, value, idem, now, answer, detail)
    local assignment = find(id)
    if not assignment then return { 'not_active', '' } end
    if assignment.state ~= 'claimed' then
        log(id, 'answer_refused', assignment.state, now)
        return { 'not_active', assignment.state }
    end
    local other = trial
    local stored = call('HGET', 'a:' .. id, trial)
    if not stored and idem ~= '' then
        other = call('HGET', 'i:' .. id, idem)
        stored = other and call('HGET', 'a:' .. id, other)
    end
    local kind = 'new'
    if stored then
        local kept = string.match(stored, '^%[(%-?%d+)')
        kind = (kept == value and other == trial) and 'same' or 'different'
        value = kept
    else
        call('HSET', 'a:' .. id, trial, answer)
        if idem ~= '' then call('HSET', 'i:' .. id, idem, trial) end
    end
    log(id, 'answer_' .. kind, detail, now)
    return { 'submitted', kind, value }
end

-- Ends

local function complete(id, trials, now)
    local assignment = find(id)
    if not assignment then return { 'not_active', '' } end
    if assignment.state == 'complete' then return { 'ended', reply(assignment), {} } end
    if assignment.state ~= 'claimed' then return { 'not_active', assignment.state } end
    local missing = {}
    for trial = 1, tonumber(trials) do
        if call('HEXISTS', 'a:' .. id, trial) == 0 then missing[#missing + 1] = tostring(trial) end
    end
    if #missing > 0 then return { 'ended', reply(assignment), missing } end
    return { 'ended', reply(finish(assignment, 'complete', 'complete', now)), {} }
end

local ATTEMPTS = { answer_new = true, answer_same = true, answer_different = true, answer_refused = true }

local function delete_attempts(id)
    local events = call('LRANGE', 'e:' .. id, 0, -1)
    call('DEL', 'e:' .. id)
    for _, event in ipairs(events) do
        local length, rest = string.match(event, '^%d+ %-?%d+ (%d+) (.*)$')
        if not ATTEMPTS[string.sub(rest, 1, tonumber(length))] then call('RPUSH', 'e:' .. id, event) end
    end
end

local function withdraw(id, keep_answers, now)
    local assignment = find(id)
    if not assignment then return { 'not_active', '' } end
    if assignment.state == 'complete' then return { 'not_active', 'complete' } end
    if assignment.state == 'withdrawn' then return { 'ended', reply(assignment), {} } end
    if keep_answers == '' then
        call('DEL', 'a:' .. id)
        call('DEL', 'i:' .. id)
        delete_attempts(id)
    end
    return { 'ended', reply(finish(assignment, 'withdrawn', 'withdraw', now)), {} }
end

local function reclaim(now)
    local overdue = call('ZRANGEBYSCORE', 'leases', '-inf', now)
    for _, id in ipairs(overdue) do finish(find(id), 'expired', 'expire', now) end
    return { 'count', tostring(#overdue) }
end

local function forget(raters, now)
    local deleted = 0
    for _, rater in ipairs(raters) do
        for _, id in ipairs(call('HVALS', 'r:' .. rater)) do
            deleted = deleted + call('HLEN', 'a:' .. id) + call('LLEN', 'e:' .. id) + 1
            release(find(id))
            call('ZREM', 'leases', id)
            call('SREM', 'all', id)
            for _, kind in ipairs({ 's:', 'a:', 'i:', 'e:' }) do call('DEL', kind .. id) end
        end
        call('DEL', 'r:' .. rater)
        deleted = deleted + call('HDEL', 'people', rater)
    end
    if deleted > 0 then log('', 'forget', tostring(deleted), now) end
    return { 'count', tostring(deleted) }
end

local function note(id, kind, detail, now)
    if call('EXISTS', 's:' .. id) == 0 then return { 'not_active', '' } end
    log(id, kind, detail, now)
    return { 'count', '1' }
end

local APPLY = { claim = claim, submit = submit, complete = complete, withdraw = withdraw, reclaim = reclaim,
    forget = forget, log = note }

if redis.call('EXISTS', KEYS[1]) == 0 then return redis.error_reply('ERR the answers were deleted from the server') end
local outcomes = {}
for index, write in ipairs(cjson.decode(ARGV[2])) do
    outcomes[index] = APPLY[write[1]](unpack(write, 2))
end
return outcomes
