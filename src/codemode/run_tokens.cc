#include "codemode/run_tokens.h"

#include "base/digest.h"

namespace relay::codemode {

Result<RunTokens::Pass> RunTokens::issue(std::shared_ptr<RunServers> servers) {
  if (runs_.size() >= limits::kRunTokens)
    return fail(busy("too many runs call upstream tools over HTTP; try again later"));
  std::string token = make_token(random_);
  std::string hash = sha256_hex(token);
  runs_.emplace(hash, std::move(servers));
  return Pass(*this, std::move(hash), std::move(token));
}

std::shared_ptr<RunServers> RunTokens::find(std::string_view token) const {
  const auto run = token.empty() ? runs_.end() : runs_.find(sha256_hex(token));
  return run == runs_.end() ? nullptr : run->second;
}

}  // namespace relay::codemode
