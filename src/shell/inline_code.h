// Programs that run code of another language from their arguments: `python3 -c`, `perl -e`, awk, sed.
// That code is not read; whether there is some is what this file answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/word_expansion.h"

namespace relay::shell {

struct InlineCode {
  std::vector<std::string> opaque;  // clauses
  bool reads_program = false;       // from standard input
  std::vector<std::string> runs_files;
};

InlineCode find_inline_code(std::string_view program, const Fields& argv);

/// May a script of sed run a command or write a file? True when it is not understood.
bool is_sed_script_active(std::string_view script);
/// Likewise for awk.
bool is_awk_program_active(std::string_view program);

}  // namespace relay::shell
