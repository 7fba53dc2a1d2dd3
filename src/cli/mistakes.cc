#include "cli/mistakes.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/nearest_name.h"
#include "cli/command_tree.h"

namespace relay::cli {
namespace {

// The command that was typed, as far as it was understood.
const CLI::App& command_of(const CLI::App& app) {
  const auto typed = app.get_subcommands();
  return typed.empty() ? app : command_of(*typed.front());
}

// ", did you mean --port?", or nothing. What follows an equals sign is the value.
std::string flag_suggestion(const CLI::App& command, const std::string& word) {
  std::vector<std::string> known;
  for (const OptionNode& option : read_command_tree(command).options)
    std::ranges::copy_if(option.names, std::back_inserter(known),
                         [](const std::string& name) { return name.starts_with("--"); });
  const std::string near = nearest_name(word.substr(0, word.find('=')), known);
  return near.empty() ? "" : fmt::format(", did you mean {}?", near);
}

}  // namespace

bool has_unknown_command(const CLI::App& parent, std::span<char*> words) {
  const auto commands = parent.get_subcommands({});
  if (commands.empty() || words.empty() || words[0][0] == '-') return false;
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  const auto known = std::ranges::find(names, std::string_view(words[0]));
  if (known != names.end())
    return has_unknown_command(*commands[static_cast<std::size_t>(known - names.begin())], words.subspan(1));
  const std::string near = nearest_name(words[0], names);
  fmt::print(stderr, "relay: unknown command \"{}\"{}; `{} --help` lists them\n", words[0],
             near.empty() ? "" : fmt::format(", did you mean \"{}\"?", near), path_of(parent));
  return true;
}

std::string describe_mistake(const CLI::App& root, const CLI::Error& error) {
  const CLI::App& command = command_of(root);
  const bool lacks_command = error.get_name() == "RequiredError" && !command.get_subcommands({}).empty();
  const auto unknown = root.remaining(true);
  if (lacks_command && unknown.empty()) return root.help();
  const auto flag =
      std::ranges::find_if(unknown, [](const std::string& word) { return word.starts_with('-'); });
  const bool is_flag =
      flag != unknown.end() &&
      (lacks_command || error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError));
  const std::string what =
      is_flag ? fmt::format("unknown option {}{}", *flag, flag_suggestion(command, *flag)) : error.what();
  return fmt::format("relay: {}; `{} --help` says more\n", what, path_of(command));
}

}  // namespace relay::cli
