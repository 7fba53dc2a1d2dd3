// Log: one line for people and machines about something that happened. app/ makes the real one, which
// outlives everything else; nothing else writes to stderr. Safe from any thread, never fails: a line that
// cannot be written is dropped. What is secret never becomes a field: callers pass ids, names and numbers,
// not payloads.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include "base/json.h"

namespace relay {

enum class LogLevel : std::uint8_t { debug, info, warn, error };

/// One fact beside the message. Text, numbers and truth values convert.
struct LogField {
  template <class T>
  LogField(std::string_view name, const T& fact) : key(name) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      const std::string_view text(fact);
      value = boost::json::string_view(text.data(), text.size());
    } else {
      value = fact;
    }
  }
  std::string_view key;
  json::value value;
};

class Log {
 public:
  virtual ~Log() = default;
  virtual void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) = 0;
  /// From here on every line is what the filter makes of it: app/ removes secrets there. The filter is called
  /// by any thread.
  using LineFilter = std::function<std::string(std::string_view line)>;
  virtual void set_filter(LineFilter filter) { (void)filter; }

  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::debug, message, fields);
  }
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::info, message, fields);
  }
  void warn(std::string_view message, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::warn, message, fields);
  }
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) {
    write(LogLevel::error, message, fields);
  }
};

/// For tests and tools that stay quiet.
class NullLog final : public Log {
 public:
  void write(LogLevel, std::string_view, std::initializer_list<LogField>) override {}
};

}  // namespace relay
