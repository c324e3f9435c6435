-- Returns all that a study holds, as of one moment. KEYS and ARGV[1] are those of apply.lua.

local base = ARGV[1]
local ids = redis.call('SMEMBERS', base .. 'all')
local assignments = {}
for index, id in ipairs(ids) do
    assignments[index] = {
        id,
        redis.call('HMGET', base .. 's:' .. id, 'task', 'slot', 'rater', 'state', 'consent', 'claimed', 'expires', 'ended'),
        redis.call('HGETALL', base .. 'a:' .. id),
        redis.call('LRANGE', base .. 'e:' .. id, 0, -1),
    }
end
return {
    assignments,
    redis.call('LRANGE', base .. 'e:', 0, -1),
    redis.call('HGETALL', base .. 'people'),
    redis.call('HGETALL', base .. 'tries'),
}
