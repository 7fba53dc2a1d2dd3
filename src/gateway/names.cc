#include "gateway/names.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/limits.h"

namespace relay::gateway {
namespace {

constexpr std::string_view kSeparator = "__";
constexpr std::size_t kHashDigits = 6;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string plain(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, [](char c) { return !is_plain(c); }, '_');
  return out;
}

std::string with_hash(std::string name, std::string_view server, std::string_view original) {
  Sha256Stream stream;
  stream.update(server);
  stream.update(std::string_view("\0", 1));
  stream.update(original);
  const std::string suffix = "_" + to_hex(stream.finish()).substr(0, kHashDigits);
  name.resize(std::min(name.size(), limits::kToolNameBytes - suffix.size()));
  return name + suffix;
}

// "a__b" + "c" and "a" + "b__c" would meet; so would "a_" + "b" and "a" + "_b".
bool is_ambiguous(std::string_view server) {
  return server.contains(kSeparator) || server.ends_with('_');
}

}  // namespace

std::vector<std::string> expose_names(std::string_view server, const std::vector<std::string>& originals) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  const auto is_easy = [&](const std::string& original, const std::string& name) {
    return plain(original) == original && name.size() <= limits::kToolNameBytes && !is_ambiguous(server);
  };
  for (const std::string& original : originals) {
    names.push_back(std::string(server) + std::string(kSeparator) + plain(original));
    if (is_easy(original, names.back())) taken.insert(names.back());
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_easy(originals[i], names[i])) continue;
    const bool fits =
        names[i].size() <= limits::kToolNameBytes && !is_ambiguous(server) && !taken.contains(names[i]);
    if (!fits) names[i] = with_hash(std::move(names[i]), server, originals[i]);
    taken.insert(names[i]);
  }
  return names;
}

}  // namespace relay::gateway
