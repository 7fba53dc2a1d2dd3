#include "policy/secret_names.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/bytes.h"
#include "policy/secret_text.h"

namespace relay::policy {
namespace {

using namespace secret_text;

constexpr std::size_t kNameBytes = 64;  // longer names are judged by their last bytes

// These count wherever a name ends with them: PGPASSWORD and accessToken have no boundary.
constexpr std::array<std::string_view, 16> kSecrets{
    "password", "passwd",  "pwd",        "passphrase",  "passcode",   "secret",     "token",     "apikey",
    "api_key",  "api-key", "credential", "credentials", "access_key", "access-key", "accesskey", "secretkey"};
constexpr std::array<std::string_view, 2> kParts{"accountkey", "sharedaccesskey"};
constexpr std::array<std::string_view, 6> kKeys{"privatekey", "encryptionkey", "signingkey",
                                                "masterkey",  "authkey",       "subscriptionkey"};

constexpr std::array<std::string_view, 47> kHarmlessKeys{
    "primary", "foreign", "public",  "partition", "sort",        "cache",    "composite", "unique",
    "row",     "range",   "group",   "routing",   "lookup",      "index",    "order",     "object",
    "map",     "dict",    "natural", "surrogate", "shard",       "join",     "message",   "translation",
    "hash",    "search",  "tab",     "arrow",     "enter",       "escape",   "shift",     "ctrl",
    "control", "alt",     "meta",    "hot",       "modifier",    "registry", "json",      "config",
    "data",    "field",   "column",  "item",      "idempotency", "dedup",    "candidate"};
constexpr std::array<std::string_view, 16> kHarmlessPasses{
    "low",   "high",   "band", "first", "second", "render", "shadow", "depth",
    "multi", "single", "one",  "two",   "by",     "all",    "test",   "did"};

bool ends_with_any(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return ends_with_ignoring_case(text, word); });
}

bool is_joint(char c) {
  return c == '_' || c == '-';
}

// "primary" of `primary_key` and of `users_primary_key`, but not "alt" of `basalt_key`.
bool ends_with_word_of(std::string_view qualifier, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    if (!ends_with_ignoring_case(qualifier, word)) return false;
    const std::size_t begin = qualifier.size() - word.size();
    return begin == 0 || is_joint(qualifier[begin - 1]);
  });
}

bool is_qualified_key(std::string_view name) {
  if (!ends_with_ignoring_case(name, "key") || name.size() < 5 || !is_joint(name[name.size() - 4]))
    return false;
  return !ends_with_word_of(name.substr(0, name.size() - 4), kHarmlessKeys);
}

bool is_qualified_pass(std::string_view name) {
  if (!ends_with_ignoring_case(name, "pass") || name.size() < 5) return false;
  const std::string_view qualifier = name.substr(0, name.size() - 4);
  if (is_joint(qualifier.back()))
    return !ends_with_word_of(qualifier.substr(0, qualifier.size() - 1), kHarmlessPasses);
  return name.ends_with("Pass") && !is_upper(qualifier.back()) && is(qualifier.back(), alnum) &&
         !ends_with_word_of(qualifier, kHarmlessPasses);
}

// Most separators follow words that cannot end a name: one look at the last letter settles it.
bool may_end_name(char c) {
  return std::string_view("cdehklnsty").find(lower(c)) != kNone;
}

}  // namespace

std::string_view word_before(std::string_view text, std::size_t end) {
  const std::size_t stop = end > kNameBytes ? end - kNameBytes : 0;
  std::size_t begin = end;
  while (begin > stop && is(text[begin - 1], dotted)) --begin;
  return text.substr(begin, end - begin);
}

NameKind kind_of_name(std::string_view name) {
  if (name.empty() || !may_end_name(name.back())) return NameKind::harmless;
  if (ends_with_ignoring_case(name, "authorization")) return NameKind::authorization;
  if (ends_with_ignoring_case(name, "cookie") || equal_ignoring_case(name, "cookies"))
    return NameKind::cookie;
  if (ends_with_any(name, kParts)) return NameKind::part;
  if (ends_with_any(name, kSecrets) || name == "_auth") return NameKind::secret;
  if (equal_ignoring_case(name, "pass")) return NameKind::pass;
  if (is_qualified_pass(name)) return NameKind::secret;
  if (ends_with_any(name, kKeys) || is_qualified_key(name)) return NameKind::key;
  return NameKind::harmless;
}

}  // namespace relay::policy
