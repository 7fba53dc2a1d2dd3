// The bearer token of `auth.mode: token`: made at first start, shown once, kept in a file that only its owner
// reads. Whoever has it may do everything the configuration allows, so it is compared in constant time and
// never logged.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "net/router.h"

namespace relay::auth {

class BearerToken {
 public:
  /// Loads the token, or makes one when the file is not there. Refuses a file that others may read: a token
  /// that was readable is not a secret any more.
  static Result<BearerToken> open(const std::string& path, RandomSource& random);

  /// True right after it was made: the moment to show it.
  [[nodiscard]] bool is_new() const { return is_new_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool matches(std::string_view presented) const;

 private:
  BearerToken(std::string text, bool is_new) : text_(std::move(text)), is_new_(is_new) {}

  std::string text_;
  bool is_new_;
};

/// Takes `Authorization: Bearer <token>`; the principal is "token".
class TokenAuthenticator final : public net::Authenticator {
 public:
  explicit TokenAuthenticator(BearerToken token) : token_(std::move(token)) {}
  Result<std::string> authenticate(const net::HttpRequest& request) override;
  [[nodiscard]] std::string challenge(const net::HttpRequest& request) const override;

 private:
  BearerToken token_;
};

/// What follows "Bearer " in the one Authorization field, if that is its shape.
std::optional<std::string_view> find_bearer(const net::HttpRequest& request);

}  // namespace relay::auth
