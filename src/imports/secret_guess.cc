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

std::string_view without_dashes(std::string_view flag) {
  return flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
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

std::optional<SecretArgument> find_secret_argument(std::string_view before, std::string_view argument) {
  const std::size_t separator = argument.find_first_of("=:");
  if (separator != std::string_view::npos) {
    const std::string_view name = without_dashes(argument.substr(0, separator));
    std::size_t begin = separator + 1;
    while (begin < argument.size() && argument[begin] == ' ') ++begin;
    const std::string_view value = argument.substr(begin);
    if (!value.starts_with("//") && looks_like_secret(name, value)) {
      const std::size_t prefix = begin + split_scheme(value).prefix.size();
      return SecretArgument{name, {argument.substr(0, prefix), argument.substr(prefix)}};
    }
  }
  const bool follows_flag = before.starts_with("-") && before.find('=') == std::string_view::npos;
  const std::string_view flag = follows_flag ? without_dashes(before) : std::string_view();
  if (argument.starts_with("-") || !looks_like_secret(flag, argument)) return std::nullopt;
  return SecretArgument{flag, split_scheme(argument)};
}

}  // namespace relay::imports
