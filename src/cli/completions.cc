#include "cli/completions.h"

#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace relay::cli {
namespace {

void for_each(const CommandNode& node, const std::function<void(const CommandNode&)>& visit) {
  visit(node);
  for (const CommandNode& command : node.commands) for_each(command, visit);
}

std::vector<std::string> paths_below(const CommandNode& root) {
  std::vector<std::string> paths;
  for_each(root, [&](const CommandNode& node) {
    if (&node != &root) paths.push_back("'" + node.path + "'");
  });
  return paths;
}

// In single quotes; `quote` is how the shell writes one inside of them.
std::string quoted(std::string_view text, std::string_view quote) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += quote;
    else if (c == '\\' && quote.starts_with('\\'))
      out += "\\\\";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string posix_quoted(std::string_view text) {
  return quoted(text, "'\\''");
}

std::string fish_quoted(std::string_view text) {
  return quoted(text, "\\'");
}

std::vector<std::string> words_of(const CommandNode& node) {
  std::vector<std::string> words;
  for (const CommandNode& command : node.commands) words.push_back(command.name);
  for (const OptionNode& option : node.options)
    words.insert(words.end(), option.names.begin(), option.names.end());
  return words;
}

// "'relay serve:-c'|'relay serve:--config'": the word before the one that is completed.
std::string value_labels(const CommandNode& node, const OptionNode& option) {
  std::vector<std::string> labels;
  for (const std::string& name : option.names) labels.push_back(fmt::format("'{}:{}'", node.path, name));
  return fmt::format("{}", fmt::join(labels, "|"));
}

constexpr std::string_view kBashHead = R"(# Completion of relay for bash, made by `relay completions bash`.
_relay() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} place=relay word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$place $word" in
      {}) place="$place $word" ;;
    esac
  done
)";

std::string bash_script(const CommandNode& root) {
  std::string values;
  std::string places;
  for_each(root, [&](const CommandNode& node) {
    for (const OptionNode& option : node.options) {
      if (!option.takes_value) continue;
      const std::string reply =
          option.takes_path ? "compopt -o default"
          : option.choices.empty()
              ? ":"
              : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", fmt::join(option.choices, " "));
      values += fmt::format("    {}) {}; return ;;\n", value_labels(node, option), reply);
    }
    places += fmt::format("    '{}') COMPREPLY=($(compgen -W '{}' -- \"$cur\")){} ;;\n", node.path,
                          fmt::join(words_of(node), " "),
                          node.takes_path ? "; [[ $cur == -* ]] || compopt -o default" : "");
  });
  return fmt::format(kBashHead, fmt::join(paths_below(root), "|")) +
         fmt::format("  case \"$place:$prev\" in\n{}  esac\n  case \"$place\" in\n{}  esac\n}}\n", values,
                     places) +
         "complete -F _relay relay\n";
}

constexpr std::string_view kZshHead = R"(#compdef relay
# Completion of relay for zsh, made by `relay completions zsh`.
_relay() {{
  local place=relay
  local -i at
  local -a found
  for ((at = 2; at < CURRENT; ++at)); do
    case "$place $words[at]" in
      {}) place="$place $words[at]" ;;
    esac
  done
)";

std::string zsh_list(const CommandNode& node) {
  std::string list;
  for (const CommandNode& command : node.commands)
    list += " " + posix_quoted(fmt::format("{}:{}", command.name, command.meaning));
  for (const OptionNode& option : node.options)
    for (const std::string& name : option.names)
      list += " " + posix_quoted(fmt::format("{}:{}", name, option.meaning));
  return list;
}

std::string zsh_script(const CommandNode& root) {
  std::string values;
  std::string places;
  for_each(root, [&](const CommandNode& node) {
    for (const OptionNode& option : node.options) {
      if (!option.takes_value) continue;
      const std::string reply = option.takes_path ? "_files"
                                : option.choices.empty()
                                    ? ":"
                                    : fmt::format("compadd -- {}", fmt::join(option.choices, " "));
      values += fmt::format("    {}) {}; return ;;\n", value_labels(node, option), reply);
    }
    places += fmt::format("    '{}') found=({} ){} ;;\n", node.path, zsh_list(node),
                          node.takes_path ? "; [[ $PREFIX == -* ]] || _files" : "");
  });
  return fmt::format(kZshHead, fmt::join(paths_below(root), "|")) +
         fmt::format("  case \"$place:$words[CURRENT-1]\" in\n{}  esac\n  case \"$place\" in\n{}  esac\n",
                     values, places) +
         "  _describe relay found\n}\n"
         "if [[ $funcstack[1] == _relay ]]; then _relay \"$@\"; else compdef _relay relay; fi\n";
}

constexpr std::string_view kFishHead = R"(# Completion of relay for fish, made by `relay completions fish`.
function __relay_place
  set -l place relay
  for word in (commandline -opc)[2..-1]
    if contains -- "$place $word" {}
      set place "$place $word"
    end
  end
  echo $place
end
function __relay_at
  test (__relay_place) = "$argv[1]"
end
complete -c relay -f
)";

std::string fish_option(const CommandNode& node, const OptionNode& option) {
  std::string line = fmt::format("complete -c relay -n \"__relay_at '{}'\"", node.path);
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value) line += option.takes_path ? " -r -F" : " -x";
  if (!option.choices.empty()) line += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
  return line + " -d " + fish_quoted(option.meaning) + "\n";
}

std::string fish_script(const CommandNode& root) {
  std::string out = fmt::format(kFishHead, fmt::join(paths_below(root), " "));
  for_each(root, [&](const CommandNode& node) {
    for (const CommandNode& command : node.commands)
      out += fmt::format("complete -c relay -n \"__relay_at '{}'\" -a {} -d {}\n", node.path, command.name,
                         fish_quoted(command.meaning));
    if (node.takes_path) out += fmt::format("complete -c relay -n \"__relay_at '{}'\" -F\n", node.path);
    for (const OptionNode& option : node.options) out += fish_option(node, option);
  });
  return out;
}

}  // namespace

std::string make_completions(Shell shell, const CommandNode& root) {
  switch (shell) {
    case Shell::bash: return bash_script(root);
    case Shell::zsh: return zsh_script(root);
    case Shell::fish: return fish_script(root);
  }
  return {};
}

}  // namespace relay::cli
