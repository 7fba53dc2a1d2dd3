// CommandLine: what a text would run, as far as it can be known without running it.
//
// Every simple command of the text is in it, also those in substitutions, functions, here-documents and in
// texts that other shells are given (`bash -c '…'`). A command has several readings: itself, what a wrapper
// such as sudo runs, and what it is with the values that variables may have. Each reading is judged, and the
// strictest counts. What cannot be seen through is said in `opaque`, each time with the part and the reason.
//
// Pure: no file, no clock, no network. A name is never resolved and a file never read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/syntax.h"

namespace relay::shell {

using CommandWords = std::vector<std::string>;

struct ParsedCommand {
  CommandWords words;                  // as written, decoded where that is known: "rm", "-rf", "$HOME/x"
  std::vector<CommandWords> readings;  // what may run; the first is the command itself
  std::string inside;                  // the shell that reads it: "bash -c"; empty for the text itself

  bool operator==(const ParsedCommand&) const = default;
};

struct CommandLine {
  std::vector<ParsedCommand> commands;
  std::vector<std::string> opaque;         // "the name of a command comes from $X"
  std::vector<std::string> files_written;  // by redirections
  std::vector<std::string> hosts;          // named in arguments and redirections, as they are written

  [[nodiscard]] bool is_opaque() const { return !opaque.empty(); }
};

struct CommandLineOptions {
  Dialect dialect = Dialect::bash;
  std::optional<std::string> input = std::nullopt;  // what the text's commands read
  std::vector<std::string> environment = {};        // "NAME=value", set for it
};

CommandLine understand(std::string_view text, const CommandLineOptions& options = {});

/// The same for a program that is started without a shell.
CommandLine understand_words(const CommandWords& words, const CommandLineOptions& options = {});

/// One line: the words with one space between. What policy patterns see.
std::string canonical_text(const CommandWords& words);

/// Hosts that a word names: of a URL, of user@host:path. Empty when there are none.
std::vector<std::string> hosts_in(std::string_view word);

}  // namespace relay::shell
