// CagePlan: what stands inside a cage, as a value that relay prints and relay-cage reads. make_cage_walls()
// (launch_plan.h) are the walls around it.
//
// {"program":"node","args":["server.js"],"directory":"/srv/x","read":["/srv/x"],"write":["/srv/data"],"home":"/home/u","hosts":true,
//  "hidden":["/srv/x/relay.config.json"],"user":"unprivileged","groups":["/sys/fs/cgroup/memory/relay.7.x"],"limits":{"processes":258,"openFiles":4096,"fileBytes":4294967296},
//  "scratchBytes":536870912,"scratchFiles":65536}
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sandbox/cage_limits.h"

namespace relay::sandbox {

/// Who the processes of a cage are outside of it, when relay is root. Anybody else stays who they are.
enum class CageUser : std::uint8_t {
  unprivileged,  // a user id that nothing else has; the declared paths are mapped, so that it owns what root
                 // owns
  own,           // root without capabilities: a weaker level that has to be asked for
};
/// The unprivileged user: this and the pid of relay-cage, so that no two cages are the same user. The range
/// is above those that systemd hands out (to 0x6FFFFFFF) and below the ids that are negative for 32-bit
/// programs.
inline constexpr unsigned kCageUsers = 0x70000000;
/// Whether relay-cage changes the user: it is asked to, it is root, and root of the machine (or of a
/// namespace that has the ids), not of a container that is an ordinary user outside.
bool changes_user(CageUser user);
std::string_view name_of(CageUser user);
std::optional<CageUser> find_cage_user(std::string_view name);

struct CagePlan {
  std::string program;            // a path inside the cage, or a name to look up in PATH
  std::vector<std::string> args;  // without argv[0]
  std::string directory;          // to start in; empty: /tmp
  std::vector<std::string> read;  // absolute; seen at the same place
  std::vector<std::string> write;
  std::string home;                   // an empty directory of the cage's own at this place; empty: none
  bool hosts = false;                 // descriptor kCageSocket takes the listening socket of the proxy
  std::vector<std::string> hidden{};  // beneath read and write: covered by something empty and read-only
  CageUser user = CageUser::unprivileged;
  std::vector<std::string> groups{};  // directories of the control group that it joins; empty: none
  ProcessLimits limits{};             // of each process
  std::size_t scratch_bytes = limits::kCageTmpBytes;
  std::size_t scratch_files = limits::kCageTmpInodes;
  friend bool operator==(const CagePlan&, const CagePlan&) = default;
};

/// The socket over which relay-cage hands out its listening socket, before anything of the server runs.
inline constexpr int kCageSocket = 3;

/// How relay-cage ends when a wall could not be built, or the program could not be run behind it; stderr has
/// the sentence.
inline constexpr int kCageFailed = 125;

/// "relay-cage --supervise PROGRAM ARG...": no cage, but a parent that ends what the server leaves behind.
inline constexpr const char* kSupervise = "--supervise";
/// What relay sends to a supervisor instead of SIGKILL: it ends all of the server's processes, then itself.
inline int end_signal() {
  return SIGRTMIN;
}

json::object to_json(const CagePlan& plan);
/// Also checks it, see check.
Result<CagePlan> parse_cage_plan(std::string_view text);
/// Paths are absolute, have no "..", and are none of /, /proc, /dev, /sys or below; a program is named.
Result<void> check(const CagePlan& plan);

}  // namespace relay::sandbox
