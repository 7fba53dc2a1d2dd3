// RunTokens: who may call upstream tools over HTTP. A run that goes on in a browser gets a token; it stands
// for that run, its caller and its servers, and ends with it. Only hashes are kept: comparing takes the same
// time whatever was sent. Loop thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/random.h"
#include "codemode/run_servers.h"

namespace relay::codemode {

class RunTokens {
 public:
  explicit RunTokens(RandomSource& random) : random_(random) {}

  /// The token's life: when it goes, the token is worth nothing.
  class Pass {
   public:
    Pass(Pass&& other) noexcept
        : tokens_(std::exchange(other.tokens_, nullptr)),
          hash_(std::move(other.hash_)),
          token_(std::move(other.token_)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (tokens_) tokens_->runs_.erase(hash_);
    }
    [[nodiscard]] const std::string& token() const { return token_; }

   private:
    friend class RunTokens;
    Pass(RunTokens& tokens, std::string hash, std::string token)
        : tokens_(&tokens), hash_(std::move(hash)), token_(std::move(token)) {}
    RunTokens* tokens_;
    std::string hash_;
    std::string token_;
  };

  /// Fails when too many runs hold one. The tokens must outlive the pass.
  Result<Pass> issue(std::shared_ptr<RunServers> servers);
  /// Null for a token that was never given out or has ended.
  [[nodiscard]] std::shared_ptr<RunServers> find(std::string_view token) const;

 private:
  RandomSource& random_;
  std::map<std::string, std::shared_ptr<RunServers>, std::less<>> runs_;  // by SHA-256 of the token
};

}  // namespace relay::codemode
