// A tool's log as an outsider may see it: the lines that say what went wrong, without secrets, hosts or local
// paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::packages {

/// Credentials in URLs and settings become "***", the host of a URL "<registry>", and each of `paths`
/// "<dir>".
std::string redact_log(std::string_view log, const std::vector<std::string>& paths);

/// The last `max_lines` lines that are not blank, at most max_bytes.
std::string last_lines(std::string_view log, std::size_t max_lines, std::size_t max_bytes = 2000);

}  // namespace relay::packages
