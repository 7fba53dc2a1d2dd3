// Whether what a server sent as the result of a tool is one. Pure.
#pragma once

#include "peer/peer.h"

namespace relay::peer {

/// The result as it came when it has the shape of a tool's result. Text or a single block in the place of the
/// list of content becomes that list; a missing list becomes an empty one. Anything else is an error that
/// names the member. `members` is the result parsed.
Result<protocol::JsonText> shape_tool_result(std::string_view text, const json::value& members);

}  // namespace relay::peer
