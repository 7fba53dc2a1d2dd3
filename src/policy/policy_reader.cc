#include "policy/policy_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest_name.h"

namespace relay::policy {

void BlockReader::complain(std::string_view key, std::string message) {
  problems_.push_back({fmt::format("{}.{}", path_, key), std::move(message)});
}

void BlockReader::expect_only(std::span<const std::string_view> known) {
  for (const auto& member : block_) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, {known.begin(), known.end()});
    complain(key.substr(0, 64), near.empty()
                                    ? fmt::format("is not known; known are {}", fmt::join(known, ", "))
                                    : fmt::format("is not known; did you mean \"{}\"?", near));
  }
}

std::optional<std::int64_t> BlockReader::number(std::string_view key, std::int64_t low, std::int64_t high) {
  if (!json::find(block_, key)) return std::nullopt;
  const auto value = json::find_int(block_, key);
  if (value && *value >= low && *value <= high) return value;
  complain(key, fmt::format("must be a whole number from {} to {}", low, high));
  return std::nullopt;
}

std::optional<bool> BlockReader::flag(std::string_view key) {
  if (!json::find(block_, key)) return std::nullopt;
  const auto value = json::find_bool(block_, key);
  if (!value) complain(key, "must be true or false");
  return value;
}

std::optional<std::vector<std::string>> BlockReader::texts(std::string_view key) {
  const json::value* found = json::find(block_, key);
  if (!found) return std::nullopt;
  std::vector<std::string> out;
  if (!found->is_array()) {
    complain(key, "must be an array of strings");
    return out;
  }
  for (std::size_t i = 0; i < found->get_array().size(); ++i) {
    const json::value& item = found->get_array()[i];
    if (item.is_string()) out.emplace_back(json::view(item.get_string()));
    if (!item.is_string()) complain(fmt::format("{}[{}]", key, i), "must be a string");
  }
  return out;
}

}  // namespace relay::policy
