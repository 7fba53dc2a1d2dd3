#include "sandbox/cage_limits.h"

#include <fmt/format.h>

namespace relay::sandbox {

std::string_view name_of(HeldBy wall) {
  switch (wall) {
    case HeldBy::group: return "group";
    case HeldBy::user: return "user";
    case HeldBy::processes: return "process";
    case HeldBy::priority: return "priority";
  }
  return "unknown";
}

CageStanding make_standing(const ControlGroup* group, std::string reason) {
  CageStanding standing;
  standing.reason = std::move(reason);
  if (!group) return standing;
  standing.version = group->version();
  standing.memory = HeldBy::group;
  if (group->limits_processes()) standing.processes = HeldBy::group;
  if (group->limits_cpu()) standing.cpu = HeldBy::group;
  return standing;
}

// Processes are limited twice where a group does it, too: the rlimit costs nothing and needs nobody's leave.
ProcessLimits make_process_limits(const CageLimits& limits, const CageStanding& standing) {
  return {.data_bytes = standing.memory == HeldBy::group ? 0 : limits.memory_bytes,
          .processes = limits.processes + limits::kCageOwnProcesses,
          .cpu_seconds = static_cast<std::size_t>(limits.cpu_time.count()),
          .open_files = limits.open_files,
          .file_bytes = limits.file_bytes,
          .nice = standing.cpu == HeldBy::group ? 0 : limits::kCageNice};
}

json::object to_json(const CageStanding& standing) {
  json::object out{{"cgroup", name_of(standing.version)},
                   {"memory", name_of(standing.memory)},
                   {"processes", name_of(standing.processes)},
                   {"cpu", name_of(standing.cpu)}};
  if (!standing.reason.empty()) out["reason"] = standing.reason;
  return out;
}

std::string describe(const CageLimits& limits, const CageStanding& standing) {
  const std::string cpu =
      standing.cpu == HeldBy::group
          ? fmt::format("{:.2f} processors", static_cast<double>(limits.cpu_percent) / 100)
          : std::string("low priority instead of a processor quota");
  const std::string text =
      fmt::format("cage limits: memory {} MB {}, {} processes, {}", limits.memory_bytes / limits::kMiB,
                  standing.memory == HeldBy::group ? "in all" : "for each process", limits.processes, cpu);
  if (standing.version == GroupVersion::none)
    return fmt::format("{} (weaker level: rlimits alone, no control group: {})", text, standing.reason);
  return fmt::format("{} (control group {})", text, name_of(standing.version));
}

}  // namespace relay::sandbox
