#include "sandbox/group_homes.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace relay::sandbox {
namespace {

std::string read_whole(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool has_controller(std::string_view list, std::string_view wanted) {
  const std::vector<std::string_view> names = split(list, ',');
  return std::ranges::find(names, wanted) != names.end();
}

// "4:memory:/a/b", "0::/a/b": our path in the hierarchy of that controller; the unified one has no name.
std::optional<std::string_view> find_path(std::string_view cgroup, std::string_view controller) {
  for (const std::string_view line : split(cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : has_controller(names, controller))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

struct Mount {
  std::string_view root;   // what of the hierarchy is mounted
  std::string_view point;  // where
  std::string_view type;   // cgroup, cgroup2
  std::string_view options;
};

// "30 23 0:26 /root /point rw,relatime shared:9 - cgroup cgroup rw,memory"
std::optional<Mount> parse_mount(std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  const auto dash = std::ranges::find(words, "-");
  if (words.size() < 6 || words.end() - dash < 4) return std::nullopt;
  return Mount{words[3], words[4], dash[1], dash[3]};
}

// In a container the mount may begin below the top; a path outside of it is out of sight.
std::string place(const Mount& mount, std::string_view path) {
  if (mount.root != "/") {
    if (!path.starts_with(mount.root) || (path.size() > mount.root.size() && path[mount.root.size()] != '/'))
      return {};
    path.remove_prefix(mount.root.size());
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(mount.point) + std::string(path);
}

}  // namespace

GroupHomes parse_group_homes(std::string_view mountinfo, std::string_view cgroup) {
  GroupHomes homes;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::optional<Mount> mount = parse_mount(line);
    if (!mount) continue;
    const auto settle = [&](std::string& home, std::string_view controller) {
      if (const auto path = find_path(cgroup, controller); path && home.empty()) home = place(*mount, *path);
    };
    if (mount->type == "cgroup2") settle(homes.unified, "");
    if (mount->type != "cgroup") continue;
    const std::pair<std::string&, std::string_view> controllers[] = {
        {homes.memory, "memory"}, {homes.pids, "pids"}, {homes.cpu, "cpu"}, {homes.usage, "cpuacct"}};
    for (const auto& [home, controller] : controllers)
      if (has_controller(mount->options, controller)) settle(home, controller);
  }
  return homes;
}

GroupHomes read_group_homes() {
  return parse_group_homes(read_whole("/proc/self/mountinfo"), read_whole("/proc/self/cgroup"));
}

}  // namespace relay::sandbox
