#include "vfs/mount_rules.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::vfs {
namespace {

std::string_view last_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Result<MountRules::Patterns> MountRules::parse_patterns(const std::vector<std::string>& texts) {
  Patterns patterns;
  for (const std::string& text : texts) {
    auto glob = Glob::parse(text);
    if (!glob) return fail(invalid(fmt::format("rule '{}': {}", text, glob.error().message)));
    const bool any_depth = !glob->has_slash() && !text.starts_with('/');
    patterns.push_back({std::move(*glob), any_depth});
  }
  return patterns;
}

Result<MountRules> MountRules::parse(const std::vector<std::string>& allow,
                                     const std::vector<std::string>& deny) {
  MountRules rules;
  RELAY_TRY(rules.allow_, parse_patterns(allow));
  RELAY_TRY(rules.deny_, parse_patterns(deny));
  return rules;
}

bool MountRules::covers(const Patterns& patterns, std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view prefix = path.substr(0, end);
    const auto matches = [&](const Pattern& pattern) {
      return pattern.glob.matches(pattern.any_depth ? last_name(prefix) : prefix);
    };
    if (std::any_of(patterns.begin(), patterns.end(), matches)) return true;
    at = end + 1;
  }
  return false;
}

bool MountRules::allows(std::string_view path) const {
  if (covers(deny_, path)) return false;
  return allow_.empty() || covers(allow_, path);
}

bool MountRules::allows_passing(std::string_view directory) const {
  if (covers(deny_, directory)) return false;
  if (allow_.empty() || covers(allow_, directory)) return true;
  return std::any_of(allow_.begin(), allow_.end(), [&](const Pattern& pattern) {
    return pattern.any_depth || pattern.glob.may_match_beneath(directory);
  });
}

}  // namespace relay::vfs
