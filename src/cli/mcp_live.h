// A World around some of the configured servers, for as long as a command needs them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/waiting_note.h"
#include "world/world.h"

namespace relay::cli {

/// What naming a disabled server means: a mistake, or that this one is wanted all the same.
enum class Disabled : std::uint8_t { refused, wanted };

/// The entries of those names, all enabled ones when there are no names. Fails with the name that is not
/// there or may not be used.
Result<std::vector<upstream::ServerSpec>> pick_servers(const config::Config& config,
                                                       const std::vector<std::string>& names,
                                                       Disabled disabled);

/// Why a server could not be asked. When it is tried again matters to nobody: the command has ended by then.
Error final_error(const upstream::Upstream& server, Error error);

/// What a server that does not answer yet is doing: "fs (starting): npm warn deprecated ...".
std::string waiting_text(const upstream::Upstream& server);

/// Builds a World without toolsets whose fleet has these servers, runs the body, stops everything and ends
/// the process with its code.
[[noreturn]] void run_with_servers(const config::Config& config, std::vector<upstream::ServerSpec> servers,
                                   std::function<io::Task<int>(world::World&)> body);

}  // namespace relay::cli
