// `relay completions bash|zsh|fish`: a script that lets a shell complete Relay's commands, flags and values.
// Pure: made from the command tree, so a new flag needs no change here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/command_tree.h"

namespace relay::cli {

enum class Shell : std::uint8_t { bash, zsh, fish };

std::string make_completions(Shell shell, const CommandNode& root);

}  // namespace relay::cli
