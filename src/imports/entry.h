// One server's entry in the configuration of another program, read key by key.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "imports/found.h"
#include "imports/variables.h"

namespace relay::imports {

/// Gemini CLI means SSE by "url"; everybody else means streamable HTTP.
enum class UrlMeaning : std::uint8_t { http, sse };

/// Fails with why the entry cannot be used.
Result<FoundServer> read_entry(std::string_view name, const json::object& entry,
                               const Surroundings& surroundings, UrlMeaning url_meaning);

}  // namespace relay::imports
