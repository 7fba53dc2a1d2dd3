// The levels of notifications/message: those of syslog.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::protocol {

enum class LogLevel : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

std::string_view name_of(LogLevel level);
std::optional<LogLevel> find_log_level(std::string_view name);

}  // namespace relay::protocol
