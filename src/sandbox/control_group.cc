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
  const bool pids = has_word(directory + "/cgroup.controllers", "pids");
  return {.version = GroupVersion::v2, .memory = directory, .pids = pids ? directory : "", .reason = {}};
}

GroupSite look_at_v1(const std::string& memory, const std::string& pids) {
  if (!can_write(memory)) return none(fmt::format("{} is not delegated to us", memory));
  return {.version = GroupVersion::v1,
          .memory = memory,
          .pids = !pids.empty() && can_write(pids) ? pids : "",
          .reason = {}};
}

GroupSite look_at_path(const std::string& directory) {
  GroupSite site = exists(directory + "/cgroup.controllers") ? look_at_v2(directory)
                   : exists(directory + "/memory.limit_in_bytes")
                       ? look_at_v1(directory, "")
                       : none(fmt::format("{} is not a control group with a memory controller", directory));
  site.required = true;
  return site;
}

Result<void> hand_down(const GroupSite& site) {
  const std::string file = site.memory + "/cgroup.subtree_control";
  if (has_word(file, "memory") && (site.pids.empty() || has_word(file, "pids"))) return {};
  return write_file(file, site.pids.empty() ? "+memory" : "+memory +pids");
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
  return look_at_v1(homes.memory, homes.pids);
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
  remove_abandoned_below(site.memory);
  if (!site.pids.empty() && site.pids != site.memory) remove_abandoned_below(site.pids);
}

Result<ControlGroup> ControlGroup::make(const GroupSite& site, std::string_view name,
                                        std::size_t processes_max) {
  if (site.version == GroupVersion::none) return fail(unavailable("wall control_group: " + site.reason));
  ControlGroup group(site.version);
  RELAY_TRY(std::string memory, make_directory(site.memory, name));
  group.directories_.push_back(std::move(memory));
  if (!site.pids.empty() && site.pids != site.memory) {
    RELAY_TRY(std::string pids, make_directory(site.pids, name));
    group.directories_.push_back(std::move(pids));
  }
  if (!site.pids.empty())
    RELAY_CHECK(write_file(group.directories_.back() + "/pids.max", fmt::to_string(processes_max)));
  return group;
}

ControlGroup::ControlGroup(ControlGroup&& other) noexcept
    : version_(other.version_), directories_(std::exchange(other.directories_, {})) {}

ControlGroup::~ControlGroup() {
  const auto deadline = std::chrono::steady_clock::now() + kRemovalWait;
  for (const std::string& directory : directories_)
    while (::rmdir(directory.c_str()) != 0 && errno == EBUSY && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(kRemovalPause);
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
