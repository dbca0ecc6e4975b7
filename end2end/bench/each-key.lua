-- Calls with one key after the other, so that the gateway gets to know them all.
local requests = {}
for key in io.lines(os.getenv("KEYS")) do
  requests[#requests + 1] = key
end
local next = 0

function request()
  next = next % #requests + 1
  return wrk.format("GET", "/api/cached", { ["X-Api-Key"] = requests[next] })
end
