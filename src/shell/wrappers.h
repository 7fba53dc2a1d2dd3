// Programs that run another program: which of their arguments is it? `sudo -u x rm y` runs `rm y`,
// `bash -c 'rm y'` reads a text, `find . -exec rm {} +` has the command in the middle.
//
// One table for the programs that take the rest of their arguments as a command, and one function for each
// family that does it differently. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/word_expansion.h"

namespace relay::shell {

/// A text that a shell will read.
struct InnerText {
  ExpandedField text;
  std::string by;            // "bash -c"
  bool any_dialect = false;  // /bin/sh is bash on some machines and dash on others
  Fields positional = {};    // $1 and so on
};

struct InnerCommand {
  Fields argv;
  bool adds_arguments = false;  // from its input, as xargs does
};

struct Unwrapped {
  std::vector<InnerCommand> commands;
  std::vector<InnerText> texts;
  std::vector<std::string> opaque;  // clauses: what it runs that cannot be seen
  bool reads_program = false;       // from its standard input
  bool reads_foreign = false;       // likewise, in a language that is not a shell's
  std::vector<std::string> runs_files = {};
};

/// What argv runs besides itself. Precondition: argv is not empty.
Unwrapped unwrap(const Fields& argv);

/// "rm" for "/bin/rm" and "\\rm".
std::string_view program_name(std::string_view program);

}  // namespace relay::shell
