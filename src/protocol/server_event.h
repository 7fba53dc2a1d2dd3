// ServerEvent: what a server says without being asked. One value goes the whole way, from the wire of an
// upstream server to the streams of our own clients; each station may act on it and passes it on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "base/json.h"
#include "protocol/log_level.h"

namespace relay::protocol {

/// Which list a server says has changed.
enum class ListKind : std::uint8_t { tools, resources, prompts };
inline constexpr std::array kLists = {ListKind::tools, ListKind::resources, ListKind::prompts};

struct ListChanged {
  ListKind list = ListKind::tools;
};

struct ResourceUpdated {
  std::string uri;
  std::string view = {};  // of whom the resource is, see serving::Backend::view_of; "" is everybody
};

/// A log line that belongs to no call.
struct LogLine {
  LogLevel level = LogLevel::info;
  std::string logger;
  json::value data;
};

using ServerEvent = std::variant<ListChanged, ResourceUpdated, LogLine>;
/// Called on the loop thread. Cheap: bursts are fine.
using EventSink = std::function<void(const ServerEvent&)>;

}  // namespace relay::protocol
