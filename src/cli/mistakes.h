// What is said about a command line that was not understood: one line, with the name that was probably meant.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace relay::cli {

/// Says on stderr which word is no command. CLI11 only says that a command is missing.
bool has_unknown_command(const CLI::App& parent, std::span<char*> words);

/// A group without a command shows its help; every other mistake is one line.
std::string describe_mistake(const CLI::App& root, const CLI::Error& error);

}  // namespace relay::cli
