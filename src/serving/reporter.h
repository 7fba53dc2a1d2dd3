// Reporter: tells the client how a call goes on: progress and log messages.
//
// Both are dropped when the client did not ask for them, when it does not read, and after the end of the
// call. This class drops everything; it is the reporter of calls that no client waits for. Loop thread only.
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "protocol/log_level.h"

namespace relay::serving {

class Reporter {
 public:
  Reporter() = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;
  virtual ~Reporter() = default;

  /// From which level on the client wants log messages; nothing: none at all.
  [[nodiscard]] virtual std::optional<protocol::LogLevel> log_level() const { return {}; }
  /// Progress must increase; a value that does not is dropped.
  virtual void progress(double /*value*/, std::optional<double> /*total*/ = {},
                        std::string_view /*message*/ = {}) {}
  virtual void log(protocol::LogLevel /*level*/, std::string_view /*logger*/, json::value /*data*/) {}
};

}  // namespace relay::serving
