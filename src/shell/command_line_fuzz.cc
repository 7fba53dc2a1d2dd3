// Any text is read in bounded time and stack. A text that is said to be clear ends where it ends: a command
// on the next line is found.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "shell/command_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay::shell;
  const std::string text(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 8192));
  if (understand(text).is_opaque() || text.ends_with('\\')) return 0;
  const CommandLine longer = understand(text + "\nprobe 1");
  const bool found = std::ranges::any_of(longer.commands, [](const ParsedCommand& command) {
    return command.words == CommandWords{"probe", "1"};
  });
  if (!found) std::abort();
  return 0;
}
