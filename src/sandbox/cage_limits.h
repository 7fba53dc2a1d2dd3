// CageLimits: how much everything in one cage may use together, and CageStanding: what holds it to that on
// this machine.
//
// A control group holds the sum of all processes in the cage. Where none can be made, or one lacks a
// controller, a weaker wall stands for that resource and CageStanding names it: memory per process
// (RLIMIT_DATA) and a sum that relay-cage makes four times a second, processor time per process (RLIMIT_CPU),
// a low priority instead of a quota. The number of processes has a wall of its own at every level:
// RLIMIT_NPROC counts per user namespace, and each cage has its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/json.h"
#include "base/limits.h"
#include "sandbox/control_group.h"

namespace relay::sandbox {

struct CageLimits {
  std::size_t memory_bytes = limits::kCageMemoryBytes;
  std::size_t processes = limits::kCageProcesses;      // threads count
  std::size_t cpu_percent = limits::kCageCpuPercent;   // of one processor: 150 is one and a half
  std::chrono::seconds cpu_time{0};                    // in all; 0: no limit
  std::size_t open_files = limits::kCageOpenFiles;     // of each process
  std::size_t file_bytes = limits::kCageFileBytes;     // one file, wherever it is written
  std::size_t scratch_bytes = limits::kCageTmpBytes;   // /tmp, the private home and /dev/shm together
  std::size_t scratch_files = limits::kCageTmpInodes;  // files, directories and links there
  friend bool operator==(const CageLimits&, const CageLimits&) = default;
};

/// What relay-cage sets for each process, where no group does it for all of them. 0: not set.
struct ProcessLimits {
  std::size_t data_bytes = 0;  // and of the sum of all processes, as often as process 1 looks
  std::size_t processes = 0;
  std::size_t cpu_seconds = 0;
  std::size_t open_files = 0;
  std::size_t file_bytes = 0;
  std::size_t nice = 0;
  friend bool operator==(const ProcessLimits&, const ProcessLimits&) = default;
};

enum class HeldBy : std::uint8_t {
  group,      // a control group, over all processes
  user,       // RLIMIT_NPROC over all processes of the cage's user namespace
  processes,  // an rlimit of each process; memory is summed up from time to time, too
  priority,   // no quota: the processes give way to others
};
std::string_view name_of(HeldBy wall);

struct CageStanding {
  GroupVersion version = GroupVersion::none;
  std::string reason;  // without a group: why
  HeldBy memory = HeldBy::processes;
  HeldBy processes = HeldBy::user;
  HeldBy cpu = HeldBy::priority;
  friend bool operator==(const CageStanding&, const CageStanding&) = default;
};

/// With the controllers of this group; null: without a group, for this reason.
CageStanding make_standing(const ControlGroup* group, std::string reason);
ProcessLimits make_process_limits(const CageLimits& limits, const CageStanding& standing);
/// {"cgroup":"v1","memory":"group",...}: for status.
json::object to_json(const CageStanding& standing);
/// One line for a log.
std::string describe(const CageLimits& limits, const CageStanding& standing);

}  // namespace relay::sandbox
