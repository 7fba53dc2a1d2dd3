#include "cli/command_tree.h"

#include <CLI/CLI.hpp>

namespace relay::cli {
namespace {

// CLI11 keeps the choices of IsMember in the name of the type: "TEXT:{open,guarded,readonly}".
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

bool names_path(const std::string& type) {
  return type.find("FILE") != std::string::npos || type.find("DIR") != std::string::npos;
}

OptionNode read_option(const CLI::Option& option) {
  OptionNode node;
  for (const std::string& name : option.get_snames()) node.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) node.names.push_back("--" + name);
  node.meaning = option.get_description();
  node.takes_value = option.get_items_expected_max() > 0;
  node.takes_path = node.takes_value && names_path(option.get_type_name());
  if (node.takes_value) node.choices = choices_of(option.get_type_name());
  return node;
}

}  // namespace

std::string path_of(const CLI::App& app) {
  return app.get_parent() ? path_of(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

CommandNode read_command_tree(const CLI::App& root) {
  CommandNode node{.path = path_of(root), .name = root.get_name(), .meaning = root.get_description()};
  for (const CLI::Option* option : root.get_options()) {
    OptionNode read = read_option(*option);
    if (!read.names.empty())
      node.options.push_back(std::move(read));
    else if (read.takes_path)
      node.takes_path = true;
    else if (!read.choices.empty())
      for (const std::string& choice : read.choices)
        node.commands.push_back({.path = node.path + " " + choice, .name = choice, .meaning = read.meaning});
  }
  for (const CLI::App* command : root.get_subcommands({}))
    node.commands.push_back(read_command_tree(*command));
  return node;
}

}  // namespace relay::cli
