-- One request, again and again. The arguments come as a file: method, path, headers, an empty line, the body.
-- With CHECK set every body must contain that text; without it only the status is looked at, because reading bodies in
-- Lua costs more than a fast server needs to make them.
local check = os.getenv("CHECK")
local bad = 0

function init(args)
  local file = assert(io.open(os.getenv("REQUEST"), "r"))
  local first = file:read("*l")
  wrk.method, wrk.path = first:match("^(%S+) (%S+)$")
  for line in file:lines() do
    if line == "" then break end
    local name, value = line:match("^([^:]+): (.*)$")
    wrk.headers[name] = value
  end
  local body = file:read("*a")
  if #body > 0 then wrk.body = body end
  file:close()
  -- Ids in flight must differ within a session: many copies of the request, each with its own id, take turns.
  requests_made, turn = {}, 0
  for id = 1, 512 do
    requests_made[id] = wrk.format(nil, nil, nil, wrk.body and (wrk.body:gsub('"id":1,', '"id":' .. id .. ',', 1)))
  end
end

function request()
  turn = turn % 512 + 1
  return requests_made[turn]
end

if check then
  function response(status, headers, body)
    if status ~= 200 or not body:find(check, 1, true) then
      bad = bad + 1
      if bad == 1 then io.stderr:write("bad answer: ", status, " ", body:sub(1, 300), "\n") end
      bad_answers = bad
    end
  end
end

local threads = {}
function setup(thread)
  table.insert(threads, thread)
end

function done(summary, latency, requests)
  local wrong = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  for _, thread in ipairs(threads) do wrong = wrong + (thread:get("bad_answers") or 0) end
  io.write(string.format('RESULT {"requests":%d,"microseconds":%d,"wrong":%d,"p50":%d,"p99":%d,"max":%d}\n',
    summary.requests, summary.duration, wrong, latency:percentile(50), latency:percentile(99), latency.max))
end
