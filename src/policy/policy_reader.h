// Reading policy blocks from JSON, with a problem for everything that is not understood.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "policy/rules.h"

namespace relay::policy {

class BlockReader {
 public:
  BlockReader(const json::object& block, std::string_view path, std::vector<Problem>& problems)
      : block_(block), path_(path), problems_(problems) {}

  void complain(std::string_view key, std::string message);
  /// Every member must be one of these; the nearest name is suggested.
  void expect_only(std::span<const std::string_view> known);
  std::optional<std::int64_t> number(std::string_view key, std::int64_t low, std::int64_t high);
  std::optional<bool> flag(std::string_view key);
  /// Nothing when the member is missing, which is not the same as an empty list.
  std::optional<std::vector<std::string>> texts(std::string_view key);

 private:
  const json::object& block_;
  std::string path_;
  std::vector<Problem>& problems_;
};

}  // namespace relay::policy
