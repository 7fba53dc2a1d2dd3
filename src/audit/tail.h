// The end of the log, for people and for the audit_tail tool.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace relay::audit {

enum class Starts : std::uint8_t { shown, hidden };

/// What is empty or missing takes every line.
struct TailFilter {
  std::size_t lines = 50;
  std::string tool;
  std::string client;   // the client_id, or what follows `local/` in it
  std::string outcome;  // lines without an outcome do not pass
  std::optional<int> tier;
  std::optional<bool> denied;
  std::optional<WallTime> since;
  Starts starts = Starts::shown;  // the lines that say that a process began to write
};

bool passes(const TailFilter& filter, std::string_view line);

/// Those of the last `lines` lines that pass, oldest first, without newlines. A missing log has no lines.
Result<std::vector<std::string>> last_lines(const std::string& path, const TailFilter& filter);

/// The last `lines` lines that pass, as far back as the live file and a bounded window reach. A missing log
/// is an error: for people.
Result<std::vector<std::string>> last_matches(const std::string& path, const TailFilter& filter);

/// Lines that are appended from now on, across rotation. `more` is asked between reads and ends it by
/// returning false.
Result<void> follow(const std::string& path, const TailFilter& filter,
                    const std::function<void(std::string_view)>& print, const std::function<bool()>& more);

}  // namespace relay::audit
