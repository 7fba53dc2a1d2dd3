#include "sandbox/control_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/fd.h"

namespace relay::sandbox {
namespace {

constexpr std::string_view kPrefix = "relay.";
constexpr int kNamesTried = 64;
constexpr auto kRemovalWait =
    std::chrono::milliseconds(500);  // the last process is dead, but perhaps not yet reaped
constexpr auto kRemovalPause = std::chrono::milliseconds(1);
constexpr std::size_t kCpuPeriodUs = 100'000;  // the kernel's own default

Result<void> write_file(const std::string& path, std::string_view text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail(from_errno(errno, "wall control_group: write " + path));
  return {};
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

bool can_write(const std::string& path) {
  return ::access(path.c_str(), W_OK) == 0;
}

bool has_word(const std::string& path, std::string_view wanted) {
  std::ifstream file(path);
  for (std::string word; file >> word;)
    if (word == wanted) return true;
  return false;
}

// The number behind a word of a file: "oom_kill 3".
std::optional<std::size_t> find_count(const std::string& path, std::string_view wanted) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string word; file >> word >> count;)
    if (word == wanted) return count;
  return std::nullopt;
}

GroupSite none(std::string reason) {
  GroupSite site;
  site.reason = std::move(reason);
  return site;
}

GroupSite look_at_v2(const std::string& directory) {
  if (!has_word(directory + "/cgroup.controllers", "memory"))
    return none(fmt::format("{} has no memory controller", directory));
  if (!can_write(directory) || !can_write(directory + "/cgroup.procs") ||
      !can_write(directory + "/cgroup.subtree_control"))
    return none(fmt::format("{} is not delegated to us", directory));
  const auto if_present = [&](std::string_view controller) {
    return has_word(directory + "/cgroup.controllers", controller) ? directory : std::string();
  };
  return {.version = GroupVersion::v2,
          .memory = directory,
          .pids = if_present("pids"),
          .reason = {},
          .cpu = if_present("cpu"),
          .usage = directory};
}

GroupSite look_at_v1(const GroupHomes& homes) {
  if (!can_write(homes.memory)) return none(fmt::format("{} is not delegated to us", homes.memory));
  const auto if_ours = [](const std::string& home) {
    return !home.empty() && can_write(home) ? home : std::string();
  };
  return {.version = GroupVersion::v1,
          .memory = homes.memory,
          .pids = if_ours(homes.pids),
          .reason = {},
          .cpu = if_ours(homes.cpu),
          .usage = if_ours(homes.usage)};
}

GroupSite look_at_path(const std::string& directory) {
  GroupSite site = exists(directory + "/cgroup.controllers") ? look_at_v2(directory)
                   : exists(directory + "/memory.limit_in_bytes")
                       ? look_at_v1({.unified = "", .memory = directory, .pids = ""})
                       : none(fmt::format("{} is not a control group with a memory controller", directory));
  site.required = true;
  return site;
}

Result<void> hand_down(const GroupSite& site) {
  const std::string file = site.memory + "/cgroup.subtree_control";
  std::string wanted;
  for (const auto& [controller, home] :
       {std::pair<std::string_view, const std::string&>{"memory", site.memory},
        {"pids", site.pids},
        {"cpu", site.cpu}})
    if (!home.empty() && !has_word(file, controller))
      wanted += fmt::format("{}+{}", wanted.empty() ? "" : " ", controller);
  return wanted.empty() ? Result<void>{} : write_file(file, wanted);
}

std::string group_name(std::string_view name) {
  return fmt::format("{}{}.{}", kPrefix, ::getpid(), name);
}

bool is_abandoned(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end != name.data() + name.size() && *end == '.' && ::kill(pid, 0) != 0 &&
         errno == ESRCH;
}

void remove_abandoned_below(const std::string& parent) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(parent.c_str()), ::closedir);
  if (!listing) return;
  for (const dirent* entry = ::readdir(listing.get()); entry; entry = ::readdir(listing.get()))
    if (is_abandoned(entry->d_name)) ::rmdir((parent + "/" + entry->d_name).c_str());
}

// A name may be taken: by another executor of this process, or by a group that was not empty in time.
Result<std::string> make_directory(const std::string& parent, std::string_view name) {
  const std::string wanted = parent + "/" + group_name(name);
  for (int i = 1; i <= kNamesTried; ++i) {
    std::string path = i == 1 ? wanted : fmt::format("{}.{}", wanted, i);
    if (::mkdir(path.c_str(), 0755) == 0) return path;
    if (errno != EEXIST) break;
  }
  return fail(from_errno(errno, "wall control_group: make " + wanted));
}

}  // namespace

std::string_view name_of(GroupVersion version) {
  switch (version) {
    case GroupVersion::none: return "none";
    case GroupVersion::v1: return "v1";
    case GroupVersion::v2: return "v2";
  }
  return "unknown";
}

GroupSite find_group_site(std::string_view wanted, const GroupHomes& homes) {
  if (wanted == "off") return none("switched off by executor.cgroup");
  if (wanted != "auto") return look_at_path(std::string(wanted));
  GroupSite site = homes.unified.empty() ? none("no control groups are mounted") : look_at_v2(homes.unified);
  if (site.version != GroupVersion::none || homes.memory.empty()) return site;
  return look_at_v1(homes);
}

GroupSite find_group_site(std::string_view wanted) {
  return find_group_site(wanted, read_group_homes());
}

GroupSite prepare_group_site(GroupSite site) {
  if (site.version != GroupVersion::v2) return site;
  Result<void> handed = hand_down(site);
  if (handed) return site;
  const Result<std::string> own = make_directory(site.memory, "server");
  if (own && join_groups({*own})) {
    handed = hand_down(site);
    if (handed) return site;
    (void)join_groups({site.memory});
  }
  if (own) ::rmdir(own->c_str());
  GroupSite without =
      none(fmt::format("{} does not hand its controllers down: {}", site.memory, handed.error().message));
  without.required = site.required;
  return without;
}

void remove_abandoned_groups(const GroupSite& site) {
  if (site.version == GroupVersion::none) return;
  for (const std::string& parent : std::set<std::string>{site.memory, site.pids, site.cpu, site.usage})
    if (!parent.empty()) remove_abandoned_below(parent);
}

Result<ControlGroup> ControlGroup::make(const GroupSite& site, std::string_view name,
                                        const GroupLimits& limits) {
  if (site.version == GroupVersion::none) return fail(unavailable("wall control_group: " + site.reason));
  ControlGroup group(site.version);
  RELAY_CHECK(group.enter(site.memory, name));
  if (!site.pids.empty()) {
    RELAY_TRY(group.pids_, group.enter(site.pids, name));
    RELAY_CHECK(write_file(group.pids_ + "/pids.max", fmt::to_string(limits.processes)));
  }
  if (limits.memory_bytes != 0) RELAY_CHECK(group.limit_memory(limits.memory_bytes));
  if (limits.cpu_percent == 0) return group;
  if (!site.cpu.empty()) {
    RELAY_TRY(group.cpu_, group.enter(site.cpu, name));
    RELAY_CHECK(group.limit_cpu(limits.cpu_percent));
  }
  if (!site.usage.empty()) {
    RELAY_TRY(group.usage_, group.enter(site.usage, name));
  }
  return group;
}

Result<std::string> ControlGroup::enter(const std::string& parent, std::string_view name) {
  const auto known = std::ranges::find(parents_, parent);
  if (known != parents_.end()) return directories_[static_cast<std::size_t>(known - parents_.begin())];
  RELAY_TRY(std::string directory, make_directory(parent, name));
  parents_.push_back(parent);
  directories_.push_back(directory);
  return directory;
}

ControlGroup::ControlGroup(ControlGroup&& other) noexcept
    : version_(other.version_),
      parents_(std::exchange(other.parents_, {})),
      directories_(std::exchange(other.directories_, {})),
      pids_(std::exchange(other.pids_, {})),
      cpu_(std::exchange(other.cpu_, {})),
      usage_(std::exchange(other.usage_, {})) {}

ControlGroup::~ControlGroup() {
  const auto deadline = std::chrono::steady_clock::now() + kRemovalWait;
  while (!remove() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(kRemovalPause);
}

bool ControlGroup::remove() {
  return std::ranges::all_of(directories_, [](const std::string& directory) {
    return ::rmdir(directory.c_str()) == 0 || errno != EBUSY;
  });
}

// "oom_kill 3" is a line of memory.events (v2) and of memory.oom_control (v1); "max 3" one of pids.events.
GroupEvents ControlGroup::events() const {
  GroupEvents events;
  const std::string& memory = directories_.front();
  events.oom_kills =
      find_count(memory + (version_ == GroupVersion::v2 ? "/memory.events" : "/memory.oom_control"),
                 "oom_kill")
          .value_or(0);
  if (!pids_.empty()) events.refused_forks = find_count(pids_ + "/pids.events", "max").value_or(0);
  if (usage_.empty()) return events;
  if (version_ == GroupVersion::v2) {
    if (const auto used = find_count(usage_ + "/cpu.stat", "usage_usec"))
      events.cpu_used = std::chrono::microseconds(*used);
  } else {
    std::ifstream file(usage_ + "/cpuacct.usage");
    if (std::size_t nanoseconds = 0; file >> nanoseconds)
      events.cpu_used = std::chrono::microseconds(nanoseconds / 1000);
  }
  return events;
}

// The weight stays the default: the group counts as one ordinary process beside its siblings, however many
// it holds.
Result<void> ControlGroup::limit_cpu(std::size_t percent) const {
  const std::size_t quota = percent * kCpuPeriodUs / 100;
  if (version_ == GroupVersion::v2)
    return write_file(cpu_ + "/cpu.max", fmt::format("{} {}", quota, kCpuPeriodUs));
  RELAY_CHECK(write_file(cpu_ + "/cpu.cfs_period_us", fmt::to_string(kCpuPeriodUs)));
  return write_file(cpu_ + "/cpu.cfs_quota_us", fmt::to_string(quota));
}

Result<std::size_t> ControlGroup::memory_bytes_now() const {
  const std::string path =
      directories_.front() + (version_ == GroupVersion::v2 ? "/memory.current" : "/memory.usage_in_bytes");
  std::ifstream file(path);
  std::size_t bytes = 0;
  if (!(file >> bytes)) return fail(unavailable("wall control_group: cannot read " + path));
  return bytes;
}

Result<void> ControlGroup::limit_memory(std::size_t bytes) const {
  const std::string& directory = directories_.front();
  const std::string text = fmt::to_string(bytes);
  if (version_ == GroupVersion::v2) {
    RELAY_CHECK(write_file(directory + "/memory.max", text));
    return exists(directory + "/memory.swap.max") ? write_file(directory + "/memory.swap.max", "0")
                                                  : Result<void>{};
  }
  RELAY_CHECK(write_file(directory + "/memory.limit_in_bytes", text));
  const std::string with_swap = directory + "/memory.memsw.limit_in_bytes";
  return exists(with_swap) ? write_file(with_swap, text) : Result<void>{};
}

Result<void> join_groups(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) RELAY_CHECK(write_file(directory + "/cgroup.procs", "0"));
  return {};
}

}  // namespace relay::sandbox
