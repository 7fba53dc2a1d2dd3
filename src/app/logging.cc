#include "app/logging.h"

#include <unistd.h>

#include <array>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/bytes.h"

namespace relay::app {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warn", "error"};

std::string_view name_of(LogLevel level) {
  return kLevelNames[static_cast<std::size_t>(level)];
}

std::string json_line(WallTime time, LogLevel level, std::string_view message,
                      std::initializer_list<LogField> fields) {
  json::object line;
  line["ts"] = format_iso8601(time);
  line["level"] = boost::json::string_view(name_of(level).data(), name_of(level).size());
  line["msg"] = to_valid_utf8(message);
  for (const auto& [key, value] : fields) line[boost::json::string_view(key.data(), key.size())] = value;
  return json::write(line);
}

// Control characters in a message could rewrite what a terminal shows.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : to_valid_utf8(text)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string text_line(WallTime time, LogLevel level, std::string_view message,
                      std::initializer_list<LogField> fields) {
  std::string line =
      fmt::format("{} {:5} {}", format_iso8601(time).substr(11, 12), name_of(level), printable(message));
  for (const auto& [key, value] : fields)
    line += fmt::format("  {}={}", key,
                        value.is_string() ? printable(json::view(value.get_string())) : json::write(value));
  return line;
}

class SpdlogLog final : public Log {
 public:
  SpdlogLog(const Clock& clock, LogFormat format, LogLevel threshold)
      : clock_(clock),
        format_(format),
        threshold_(threshold),
        logger_("relay", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_pattern("%v");
    logger_.set_level(spdlog::level::trace);
    logger_.flush_on(spdlog::level::trace);
  }

  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) override {
    if (level < threshold_) return;
    const std::string line = filtered(format_log_line(format_, clock_.wall(), level, message, fields));
    logger_.log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }

  void set_filter(LineFilter filter) override {
    const std::scoped_lock lock(mutex_);
    filter_ = std::make_shared<const LineFilter>(std::move(filter));
  }

 private:
  std::string filtered(std::string line) {
    std::shared_ptr<const LineFilter> filter;
    {
      const std::scoped_lock lock(mutex_);
      filter = filter_;
    }
    return filter ? (*filter)(line) : std::move(line);
  }

  const Clock& clock_;
  LogFormat format_;
  LogLevel threshold_;
  std::mutex mutex_;  // for the filter
  std::shared_ptr<const LineFilter> filter_;
  spdlog::logger logger_;
};

}  // namespace

LogFormat resolve_log_format(config::LogStyle configured) {
  switch (configured) {
    case config::LogStyle::json: return LogFormat::json;
    case config::LogStyle::text: return LogFormat::text;
    case config::LogStyle::automatic: break;
  }
  return ::isatty(STDERR_FILENO) ? LogFormat::text : LogFormat::json;
}

std::string format_log_line(LogFormat format, WallTime time, LogLevel level, std::string_view message,
                            std::initializer_list<LogField> fields) {
  switch (format) {
    case LogFormat::json: return json_line(time, level, message, fields);
    case LogFormat::text: return text_line(time, level, message, fields);
  }
  return {};
}

std::unique_ptr<Log> make_stderr_log(const Clock& clock, LogFormat format, LogLevel threshold) {
  return std::make_unique<SpdlogLog>(clock, format, threshold);
}

}  // namespace relay::app
