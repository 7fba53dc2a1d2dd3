// Other programs write variables into their configuration, each in its own syntax. Here they become ours:
// ${env:NAME}, ${file:PATH},
// ${secret:NAME} where values are resolved at each start (env, headers, args, URL), or their value of now
// where they are not (command, cwd).
//
// Known: ${NAME}, ${NAME:-otherwise}, ${env:NAME}, $NAME and $env:NAME (alone), {env:NAME}, {file:PATH},
// ${input:ID}, ${workspaceFolder},
// ${userHome}, ${pathSeparator}, ${/}. What is not known stays as it is, and is said.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace relay::imports {

struct Surroundings {
  std::filesystem::path home;
  std::filesystem::path folder;                    // what the file calls its workspace
  std::filesystem::path working_directory;         // where we are
  std::map<std::string, std::string> environment;  // ours
};

/// later: references stay references. now: values are put in.
enum class Expansion : std::uint8_t { later, now };

struct Translation {
  std::string text;
  std::vector<std::string> notes;  // what a person should know, without values
  std::set<std::string> inputs;    // ids of ${input:...}: a value is needed, kept as the secret of that name
  std::set<std::string> unset;     // variables that were to be put in and are not set
};

/// `secret_name` turns an input's id into the name of the secret that will hold its value.
Translation translate(std::string_view text, Expansion expansion, const Surroundings& surroundings,
                      const std::function<std::string(std::string_view id)>& secret_name);

}  // namespace relay::imports
