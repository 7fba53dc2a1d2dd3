// Cursors of paged lists: opaque, and good only for the list and the server that made them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::protocol {

/// `list` is the method, `key` a secret of this server.
std::string make_cursor(std::string_view key, std::string_view list, std::size_t offset);
Result<std::size_t> parse_cursor(std::string_view key, std::string_view list, std::string_view cursor);

}  // namespace relay::protocol
