// CagePlan: what stands inside a cage, as a value that relay prints and relay-cage reads. make_cage_walls()
// (launch_plan.h) are the walls around it.
//
// {"program":"node","args":["server.js"],"directory":"/srv/x","read":["/srv/x"],"write":["/srv/data"],"home":"/home/u","hosts":true}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace relay::sandbox {

struct CagePlan {
  std::string program;            // a path inside the cage, or a name to look up in PATH
  std::vector<std::string> args;  // without argv[0]
  std::string directory;          // to start in; empty: /tmp
  std::vector<std::string> read;  // absolute; seen at the same place
  std::vector<std::string> write;
  std::string home;    // an empty directory of the cage's own at this place; empty: none
  bool hosts = false;  // descriptor kCageSocket takes the listening socket of the proxy
  friend bool operator==(const CagePlan&, const CagePlan&) = default;
};

/// The socket over which relay-cage hands out its listening socket, before anything of the server runs.
inline constexpr int kCageSocket = 3;

/// How relay-cage ends when a wall could not be built, or the program could not be run behind it; stderr has
/// the sentence.
inline constexpr int kCageFailed = 125;

json::object to_json(const CagePlan& plan);
/// Also checks it, see check.
Result<CagePlan> parse_cage_plan(std::string_view text);
/// Paths are absolute, have no "..", and are none of /, /proc, /dev, /sys or below; a program is named.
Result<void> check(const CagePlan& plan);

}  // namespace relay::sandbox
