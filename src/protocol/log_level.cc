#include "protocol/log_level.h"

#include <array>

namespace relay::protocol {
namespace {

constexpr std::array<std::string_view, 8> kNames{"debug", "info",     "notice", "warning",
                                                 "error", "critical", "alert",  "emergency"};

}  // namespace

std::string_view name_of(LogLevel level) {
  return kNames[static_cast<std::size_t>(level)];
}

std::optional<LogLevel> find_log_level(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<LogLevel>(i);
  return std::nullopt;
}

}  // namespace relay::protocol
