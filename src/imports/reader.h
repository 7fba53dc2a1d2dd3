// Reads lists of MCP servers in the shapes that programs write them: mcpServers, servers (with inputs),
// mcp_servers, mcp.servers, opencode's mcp, Claude Code's projects, or a single server. Pure: text in, a
// Reading out.
#pragma once

#include <string_view>
#include <vector>

#include "imports/found.h"
#include "imports/places.h"
#include "imports/variables.h"

namespace relay::imports {

/// `surroundings.folder` is what the place belongs to.
Reading read_servers(std::string_view text, const Place& place, const Surroundings& surroundings);

/// The name as an id of ours: letters, digits, - and _, at most 32, never two _ in a row. "server" when
/// nothing is left.
std::string make_server_name(std::string_view name);

/// True for an entry that would make relay call itself: its program, a command line that starts it, or one of
/// its addresses.
bool points_to_relay(const upstream::ServerSpec& spec, const std::vector<std::string>& own_origins);

}  // namespace relay::imports
