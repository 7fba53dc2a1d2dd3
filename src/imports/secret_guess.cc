#include "imports/secret_guess.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace relay::imports {
namespace {

constexpr std::array<std::string_view, 10> kNames = {
    "key", "token", "secret", "password", "passwd", "credential", "authorization", "auth", "cookie", "dsn"};
constexpr std::array<std::string_view, 6> kInnocentEndings = {"_file", "_path", "_url",
                                                              "_dir",  "_id",   "_type"};
constexpr std::array<std::string_view, 10> kPrefixes = {"sk-",         "sk_",   "ghp_",  "gho_",   "ghs_",
                                                        "github_pat_", "xoxb-", "xoxp-", "glpat-", "akia"};
constexpr std::size_t kShortest = 6;  // "true", "1", "dev": settings, not secrets

bool is_secret_name(std::string_view name) {
  const std::string lower = to_lower_ascii(name);
  const auto ends = [&](std::string_view ending) { return lower.ends_with(ending); };
  const auto holds = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
  return std::ranges::none_of(kInnocentEndings, ends) && std::ranges::any_of(kNames, holds);
}

bool is_secret_shape(std::string_view value) {
  const std::string lower = to_lower_ascii(value.substr(0, 16));
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return lower.starts_with(prefix); });
}

bool is_place(std::string_view value) {
  return value.starts_with("/") || value.starts_with("~/") || value.starts_with("./");
}

}  // namespace

SplitSecret split_scheme(std::string_view value) {
  for (const std::string_view scheme : {"bearer ", "basic ", "token "})
    if (value.size() > scheme.size() && equal_ignoring_case(value.substr(0, scheme.size()), scheme))
      return {value.substr(0, scheme.size()), value.substr(scheme.size())};
  return {{}, value};
}

bool looks_like_secret(std::string_view name, std::string_view value) {
  if (value.find("${") != std::string_view::npos) return false;
  const std::string_view secret = split_scheme(value).secret;
  if (secret.size() < kShortest || is_place(secret)) return false;
  return is_secret_name(name) || is_secret_shape(secret);
}

}  // namespace relay::imports
