// `relay mcp secret set|list|remove`: values that the configuration only names. A value comes from stdin,
// never from the command line, where every user of the machine could read it.
#include <termios.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/mcp_command.h"
#include "secrets/secrets.h"

namespace relay::cli {
namespace {

// What is typed is not shown, and the terminal is as before afterwards.
class HiddenInput {
 public:
  HiddenInput() : is_hidden_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (is_hidden_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  }
  HiddenInput(const HiddenInput&) = delete;
  HiddenInput& operator=(const HiddenInput&) = delete;
  ~HiddenInput() {
    if (is_hidden_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }

 private:
  termios before_{};
  bool is_hidden_;
};

std::string ask_for_value(const std::string& name) {
  fmt::print(stderr, "value of {} (not shown): ", name);
  const HiddenInput hidden;
  std::string value;
  std::getline(std::cin, value);
  fmt::print(stderr, "\n");
  return value;
}

// A pipe ends with a newline that echo put there; nobody means it.
std::string read_value() {
  std::string value;
  char buffer[4096];
  while (value.size() <= limits::kSecretBytes && std::cin.read(buffer, sizeof buffer).gcount() > 0)
    value.append(buffer, static_cast<std::size_t>(std::cin.gcount()));
  if (value.ends_with('\n')) value.pop_back();
  if (value.ends_with('\r')) value.pop_back();
  return value;
}

int set_secret(secrets::SecretStore& store, const std::string& name) {
  const std::string value = ::isatty(STDIN_FILENO) ? ask_for_value(name) : read_value();
  if (value.empty())
    return say_error(
        invalid("the value is empty; nothing was kept. Type it, or pipe it in: printf %s \"$TOKEN\" | relay "
                "mcp secret set " +
                name));
  if (const auto kept = store.set(name, value); !kept) return say_error(kept.error());
  fmt::print("kept {}; write ${{secret:{}}} where it belongs\n", name, name);
  return 0;
}

int list_secrets(const secrets::SecretStore& store) {
  const auto names = store.names();
  if (!names) return say_error(names.error());
  for (const std::string& name : *names) fmt::print("{}\n", name);
  return 0;
}

int remove_secrets(secrets::SecretStore& store, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto removed = store.remove(name);
    if (!removed) return say_error(removed.error());
    if (!*removed)
      return say_error(
          not_found(fmt::format("there is no secret \"{}\"; `relay mcp secret list` names them", name)));
    fmt::print("removed {}\n", name);
  }
  return 0;
}

}  // namespace

int run_mcp_secret(const CommandOptions& options, const config::Config& config) {
  secrets::SecretStore store(mcp_state(config) / "secrets.json");
  if (options.mcp.action == McpAction::secret_set) return set_secret(store, options.mcp.names.front());
  if (options.mcp.action == McpAction::secret_list) return list_secrets(store);
  return remove_secrets(store, options.mcp.names);
}

}  // namespace relay::cli
