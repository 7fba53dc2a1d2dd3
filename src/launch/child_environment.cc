#include "launch/child_environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace relay::launch {
namespace {

// Directories and languages. XDG_RUNTIME_DIR is left out: sockets of the user's session live there.
constexpr std::string_view kHarmless[] = {
    "PATH", "HOME",    "LANG",  "LANGUAGE",        "TERM",          "TMPDIR",         "TZ",
    "USER", "LOGNAME", "SHELL", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"};

bool is_harmless(std::string_view name) {
  return name.starts_with("LC_") || std::ranges::find(kHarmless, name) != std::end(kHarmless);
}

}  // namespace

Environment our_environment() {
  Environment environment;
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Environment make_child_environment(const Environment& ours, const Environment& own) {
  Environment environment = own;
  for (const auto& [name, value] : ours)
    if (is_harmless(name)) environment.emplace(name, value);  // what the entry says stays
  return environment;
}

}  // namespace relay::launch
