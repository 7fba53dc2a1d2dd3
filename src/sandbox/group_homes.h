// Where the kernel says that this process lives among the control groups.
#pragma once

#include <string>
#include <string_view>

namespace relay::sandbox {

/// Its directory in each hierarchy. Empty: not mounted, or not in sight.
struct GroupHomes {
  std::string unified;  // v2
  std::string memory;   // v1
  std::string pids;     // v1
  std::string cpu{};    // v1: quota and weight
  std::string usage{};  // v1: the accounts of processor time (cpuacct)

  bool operator==(const GroupHomes&) const = default;
};

/// From the texts of /proc/self/mountinfo and /proc/self/cgroup.
GroupHomes parse_group_homes(std::string_view mountinfo, std::string_view cgroup);

/// Of this process.
GroupHomes read_group_homes();

}  // namespace relay::sandbox
