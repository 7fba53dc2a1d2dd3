// Which values of a configuration should not stand in it: keys, tokens, passwords. A guess, made to err on
// the careful side.
#pragma once

#include <string>
#include <string_view>

namespace relay::imports {

/// True for a value with no reference in it that is called, or looks like, a secret.
bool looks_like_secret(std::string_view name, std::string_view value);

/// "Bearer abc" keeps its scheme in the configuration; only the rest is secret.
struct SplitSecret {
  std::string_view prefix;  // "Bearer "
  std::string_view secret;
};
SplitSecret split_scheme(std::string_view value);

}  // namespace relay::imports
