#include "app/browser.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string_view>

#include "io/child.h"
#include "io/spawn.h"

namespace relay::app {
namespace {

constexpr const char* kOpener = "/usr/bin/xdg-open";

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

// What a desktop program needs to find the user's session; nothing else is passed on.
std::map<std::string, std::string> desktop_environment() {
  std::map<std::string, std::string> environment;
  constexpr std::array kNames = {"PATH",
                                 "HOME",
                                 "USER",
                                 "LANG",
                                 "DISPLAY",
                                 "WAYLAND_DISPLAY",
                                 "XAUTHORITY",
                                 "XDG_RUNTIME_DIR",
                                 "XDG_CURRENT_DESKTOP",
                                 "XDG_DATA_DIRS",
                                 "DBUS_SESSION_BUS_ADDRESS",
                                 "BROWSER"};
  for (const char* name : kNames)
    if (is_set(name)) environment.emplace(name, std::getenv(name));
  return environment;
}

// The opener's whole life: it is reaped like any other child.
io::Task<void> see_off(io::Child child) {
  RELAY_CO_CHECK(co_await child.wait());
  co_return Result<void>{};
}

}  // namespace

bool can_open_browser() {
  return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) && ::access(kOpener, X_OK) == 0;
}

Result<void> open_browser(const io::Loop& executor, const std::string& url) {
  const io::ChildSpec spec{.program = kOpener,
                           .args = {url},
                           .environment = desktop_environment(),
                           .in = io::Stdio::null,
                           .out = io::Stdio::null,
                           .err = io::Stdio::null};
  RELAY_TRY(io::Child child, io::Child::spawn(executor, spec));
  io::spawn(executor, see_off(std::move(child)), "browser");
  return {};
}

}  // namespace relay::app
