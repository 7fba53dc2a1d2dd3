// ControlGroup: what all children of one zygote, or all processes of one cage, may use together, where the
// machine lets us make a group for it.
//
// rlimits bound each child; nothing but a control group bounds their sum, or sees what rlimits do not count
// (shared pages, the kernel's own memory). A group stands around a whole zygote: the zygote joins before it
// boots, its children are born in it, and a run costs nothing. docs/decisions/0017-control-groups.md has the
// figures behind that. A cage has a group of its own, with a quota of processor time.
//
// Groups are made below a site: the directory of our own group, or one that the configuration names. A site
// may be missing: then rlimits stand alone, and `reason` says why. Blocking file operations, a millisecond at
// worst; called when a zygote or a cage starts or ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/group_homes.h"

namespace relay::sandbox {

enum class GroupVersion : std::uint8_t { none, v1, v2 };
std::string_view name_of(GroupVersion version);

/// Where groups are made.
struct GroupSite {
  GroupVersion version = GroupVersion::none;
  std::string memory;     // directory that limits memory
  std::string pids;       // and the one that limits processes: the same in v2, perhaps empty in v1
  std::string reason;     // without a site: why
  bool required = false;  // the configuration names it, so a zygote or cage without a group does not start
  std::string cpu{};      // directory that limits processor time; perhaps empty
  std::string usage{};    // and the one that counts it: always there in v2

  bool operator==(const GroupSite&) const = default;
};

/// "auto": below our own group, v2 before v1. "off": none. A path: there, in whichever hierarchy it belongs
/// to. Only looks.
GroupSite find_group_site(std::string_view wanted);
GroupSite find_group_site(std::string_view wanted, const GroupHomes& homes);

/// Makes a v2 site hand its controllers down. A group with processes of its own cannot: when we are the only
/// one, we move into a group below it. A site that cannot be made usable comes back as none, with the reason.
GroupSite prepare_group_site(GroupSite site);

/// Removes the groups of processes that are gone: a relay that was killed leaves its groups behind, empty.
void remove_abandoned_groups(const GroupSite& site);

/// What a new group is limited to. 0: nothing yet for memory; no say over processor time.
struct GroupLimits {
  std::size_t processes = 0;
  std::size_t memory_bytes = 0;
  std::size_t cpu_percent = 0;  // of one processor
};

/// What the kernel counted in a group. Without a value: the group has no such account.
struct GroupEvents {
  std::size_t oom_kills = 0;      // processes that were killed because the group's memory was full
  std::size_t refused_forks = 0;  // because it had as many processes as it may have
  std::optional<std::chrono::microseconds> cpu_used{};
};

class ControlGroup {
 public:
  /// "relay.<pid>.<name>". Processes above the limit cannot be forked.
  static Result<ControlGroup> make(const GroupSite& site, std::string_view name, const GroupLimits& limits);
  ControlGroup(ControlGroup&& other) noexcept;
  ControlGroup& operator=(ControlGroup&&) = delete;
  /// Removes it, as soon as the last process has left it; gives up after a moment and leaves that to
  /// remove_abandoned_groups.
  ~ControlGroup();

  [[nodiscard]] GroupVersion version() const { return version_; }
  [[nodiscard]] bool limits_processes() const { return !pids_.empty(); }
  [[nodiscard]] bool limits_cpu() const { return !cpu_.empty(); }
  [[nodiscard]] GroupEvents events() const;
  /// Tries once to remove it, for those who cannot wait as the destructor does. True: it is gone.
  bool remove();

  /// In the order in which a process joins them.
  [[nodiscard]] const std::vector<std::string>& directories() const { return directories_; }
  [[nodiscard]] Result<std::size_t> memory_bytes_now() const;
  /// Swap included. Beyond it the kernel kills the process that has most.
  Result<void> limit_memory(std::size_t bytes) const;

 private:
  explicit ControlGroup(GroupVersion version) : version_(version) {}
  /// Below this directory of the site; the same one again when two controllers share it.
  Result<std::string> enter(const std::string& parent, std::string_view name);
  [[nodiscard]] Result<void> limit_cpu(std::size_t percent) const;

  GroupVersion version_;
  std::vector<std::string> parents_;      // of the site, in step with directories_
  std::vector<std::string> directories_;  // the first one limits memory
  std::string pids_, cpu_, usage_;        // which of them does what; empty: none
};

/// The calling process joins, and everything that it forks from now on.
Result<void> join_groups(const std::vector<std::string>& directories);

}  // namespace relay::sandbox
