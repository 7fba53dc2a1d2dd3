// A line of the log as people read it: when, how it ended, what, who, which call, with what.
//
//   11-16 15:09:37  ok       run_js        local/relay run  req_383d3e9b  {"code":"console.log(1)"}
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace relay::audit {

/// Of at most `columns` characters, none of which moves a cursor: what is shown comes from guests and
/// clients. A line that is not a record is shown as it is.
std::string to_readable(std::string_view line, std::size_t columns);

}  // namespace relay::audit
