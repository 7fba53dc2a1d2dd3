// The program's log: JSON lines on stderr, or readable text when stderr is a terminal.
#pragma once

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "config/choices.h"

namespace relay::app {

enum class LogFormat : std::uint8_t { json, text };

/// "auto" becomes text on a terminal and JSON otherwise.
LogFormat resolve_log_format(config::LogStyle configured);

/// One line without its newline. JSON: {"ts":…,"level":…,"msg":…, fields…}; text: "12:00:00.123 info  msg
/// key=value".
std::string format_log_line(LogFormat format, WallTime time, LogLevel level, std::string_view message,
                            std::initializer_list<LogField> fields);

/// Writes through spdlog: whole lines, safe from several threads.
std::unique_ptr<Log> make_stderr_log(const Clock& clock, LogFormat format, LogLevel threshold);

}  // namespace relay::app
