// Names that matter to the reader of a command line: variables that make programs run something, and programs
// whose flags decide how far they reach.
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::shell {

enum class VariableKind : std::uint8_t {
  harmless,
  command,  // its value is run: PAGER, GIT_SSH_COMMAND
  code,     // it makes programs load code: LD_PRELOAD, BASH_ENV
  lookup,   // it changes which program a name means: PATH
};

VariableKind kind_of_variable(std::string_view name);

/// Programs for which one flag more makes the difference, so that arguments from elsewhere matter.
bool takes_dangerous_flags(std::string_view program);

}  // namespace relay::shell
