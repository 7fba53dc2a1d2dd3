// CommandNode: the commands and flags of the program as a plain value. command_tree.cc reads it from CLI11,
// so whatever is made from it (completions) cannot differ from what the parser accepts.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace relay::cli {

struct OptionNode {
  std::vector<std::string> names;  // "-p", "--port"
  std::string meaning;
  bool takes_value = false;
  bool takes_path = false;           // the value is a file or a directory
  std::vector<std::string> choices;  // all values that are accepted; empty: any
};

struct CommandNode {
  std::string path;  // "relay mcp add"
  std::string name;  // "add"
  std::string meaning;
  std::vector<OptionNode> options;
  bool takes_path = false;  // a word that is no flag may be a file
  std::vector<CommandNode> commands;
};

CommandNode read_command_tree(const CLI::App& root);

/// "relay mcp add".
std::string path_of(const CLI::App& app);

}  // namespace relay::cli
