// The end of the log, for people and for the audit_tail tool.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace relay::audit {

/// Filters apply inside the window of the last `lines` lines, they do not widen it.
struct TailFilter {
  std::size_t lines = 50;
  std::string tool;  // empty: every tool
  std::optional<int> tier;
  std::optional<bool> denied;
};

bool passes(const TailFilter& filter, std::string_view line);

/// Oldest first, without newlines. A missing log has no lines.
Result<std::vector<std::string>> last_lines(const std::string& path, const TailFilter& filter);

/// The last `lines` lines that pass, as far back as the live file and a bounded window reach. A missing log
/// is an error: for people.
Result<std::vector<std::string>> last_matches(const std::string& path, const TailFilter& filter);

/// Lines that are appended from now on, across rotation. `more` is asked between reads and ends it by
/// returning false.
Result<void> follow(const std::string& path, const TailFilter& filter,
                    const std::function<void(std::string_view)>& print, const std::function<bool()>& more);

}  // namespace relay::audit
