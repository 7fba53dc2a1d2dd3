// A line of the log as people read it: when, how it ended, how long it took, what, who, which call, with
// what.
//
//   11-16 15:09:37  ok        1.5 ms  run_js         local/relay run    req_383d3e9b
//   {"code":"console.log(1)"}
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::audit {

/// A text member of a record; empty when it has none of that name.
std::string_view text_of(const json::object& record, std::string_view key);

/// Of at most `columns` characters, none of which moves a cursor: what is shown comes from guests and
/// clients. A line that is not a record is shown as it is.
std::string to_readable(std::string_view line, std::size_t columns);

/// "85 us", "1.5 ms", "120 ms", "2.5 s".
std::string format_took(std::chrono::microseconds took);

}  // namespace relay::audit
