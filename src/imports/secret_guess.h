// Which values of a configuration should not stand in it: keys, tokens, passwords. A guess, made to err on
// the careful side.
#pragma once

#include <optional>
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

/// A secret in a command line: after its flag (--api-key V), with its name (--token=V, API_KEY=V,
/// "Authorization: Bearer V"), or by its looks alone.
struct SecretArgument {
  std::string_view name;  // "api-key"; empty when only its looks give it away
  SplitSecret split;
};
/// `before` is the argument in front of it; empty: none. The views are into both.
std::optional<SecretArgument> find_secret_argument(std::string_view before, std::string_view argument);

}  // namespace relay::imports
