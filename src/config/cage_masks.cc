#include "config/cage_masks.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "config/state_directory.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

// Device and path on it: the same for each name that mounts give a file.
struct Place {
  std::string device;
  fs::path path;
};

// "a/b" of /x and /x/a/b, "." of /x and /x; nothing when the path does not lie in the directory.
std::optional<fs::path> find_inside(const fs::path& directory, const fs::path& path) {
  fs::path relative = path.lexically_relative(directory);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative;
}

fs::path joined(const fs::path& directory, const fs::path& relative) {
  return relative == "." ? directory : directory / relative;
}

// The mount with the longest path holds it; of several at the same place, the last one is on top.
std::optional<Place> find_place(const std::vector<MountPoint>& mounts, const fs::path& path) {
  const MountPoint* best = nullptr;
  for (const MountPoint& mount : mounts)
    if (find_inside(mount.at, path) && (!best || mount.at.native().size() >= best->at.native().size()))
      best = &mount;
  if (!best) return std::nullopt;
  return Place{best->device, joined(best->root, *find_inside(best->at, path))};
}

// Spaces and the like are written as "\040".
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 3 < text.size();
    if (!is_escape) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

std::vector<MountPoint> read_mount_points() {
  std::ifstream file("/proc/self/mountinfo");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return parse_mount_points(text);
}

std::string version_of(const fs::path& file) {
  struct stat status{};
  if (file.empty() || ::stat(file.c_str(), &status) != 0) return {};
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

// The private paths, with "log.*" as the names that are there.
std::vector<fs::path> own_paths(const Config& config) {
  std::vector<fs::path> paths;
  for (const fs::path& path : private_paths(config)) {
    const std::string name = path.filename().string();
    if (!name.ends_with('*')) {
      paths.push_back(path);
      continue;
    }
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path.parent_path(), ignored))
      if (entry.path().filename().string().starts_with(name.substr(0, name.size() - 1)))
        paths.push_back(entry.path());
  }
  return paths;
}

// Calls visit(path, status) for each plain file with several names. False when there are too many files to
// look at all of them.
template <class Visit>
bool visit_linked_files(const fs::path& top, Visit visit) {
  const auto look = [&](const fs::path& path) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1)
      visit(path, status);
  };
  look(top);
  std::size_t seen = 0;
  std::error_code error;
  fs::recursive_directory_iterator entry(top, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (++seen > limits::kHiddenFiles) return false;
    look(entry->path());
  }
  return true;
}

using FileId = std::pair<dev_t, ino_t>;

class Masks {
 public:
  Masks(const Config& config, launch::CageSpec& cage)
      : config_(config), cage_(cage), own_(own_paths(config)), mounts_(read_mount_points()) {}

  void find() {
    cage_.refusal.clear();
    find_linked_files();
    for (const fs::path& declared : declared_paths(cage_)) {
      std::error_code error;
      const fs::path real = fs::canonical(declared, error);
      if (error) continue;
      find_beneath(declared, real);
      if (!linked_.empty()) find_links(declared, real);
    }
    cage_.hidden.assign(hidden_.begin(), hidden_.end());
    if (!hidden_.empty()) cage_.hidden_version = version_of(config_.file);
  }

 private:
  // A declared path may be a link, and the cage has it under the name that was declared.
  void add(const fs::path& declared, const fs::path& real, const fs::path& seen) {
    const auto inside = find_inside(real, seen);
    if (inside && *inside != ".") hidden_.insert((declared / *inside).string());
  }

  void find_beneath(const fs::path& declared, const fs::path& real) {
    for (const fs::path& own : own_) {
      std::error_code error;
      const fs::path own_real = fs::canonical(own, error);
      if (error) continue;
      for (const fs::path& seen : find_views(mounts_, real, own_real)) add(declared, real, seen);
    }
  }

  // What lies in `.relay/` has no secret of Relay's in it, and may be a large tree of packages.
  void find_linked_files() {
    for (const fs::path& own : own_)
      if (own != config_.project)
        visit_linked_files(own, [&](const fs::path&, const struct stat& status) {
          linked_.insert({status.st_dev, status.st_ino});
        });
  }

  void find_links(const fs::path& declared, const fs::path& real) {
    const bool whole = visit_linked_files(real, [&](const fs::path& path, const struct stat& status) {
      if (linked_.contains({status.st_dev, status.st_ino})) add(declared, real, path);
    });
    if (!whole)
      cage_.refusal = fmt::format(
          "a file of Relay's own has several hard links, and {} has too many files to find out whether one "
          "of "
          "them is there; remove the links of {} and of the files in {}",
          declared.string(), config_.file.string(), config_.state.string());
  }

  const Config& config_;
  launch::CageSpec& cage_;
  std::vector<fs::path> own_;
  std::vector<MountPoint> mounts_;
  std::set<FileId> linked_;
  std::set<std::string> hidden_;
};

}  // namespace

// "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw"
std::vector<MountPoint> parse_mount_points(std::string_view mountinfo) {
  std::vector<MountPoint> mounts;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, at;
    if (words >> id >> parent >> device >> root >> at)
      mounts.push_back({std::move(device), unescaped(root), unescaped(at)});
  }
  return mounts;
}

std::vector<fs::path> find_views(const std::vector<MountPoint>& mounts, const fs::path& declared,
                                 const fs::path& own) {
  const auto own_place = find_place(mounts, own);
  const auto declared_place = find_place(mounts, declared);
  if (!own_place || !declared_place) return {};
  std::vector<fs::path> seen;
  const auto look = [&](const Place& place, const fs::path& at) {
    if (place.device != own_place->device) return;
    if (find_inside(own_place->path, place.path))
      seen.push_back(at);
    else if (const auto inside = find_inside(place.path, own_place->path))
      seen.push_back(joined(at, *inside));
  };
  look(*declared_place, declared);
  for (const MountPoint& mount : mounts)
    if (mount.at != declared && find_inside(declared, mount.at)) look({mount.device, mount.root}, mount.at);
  return seen;
}

std::vector<fs::path> declared_paths(const launch::CageSpec& cage) {
  std::vector<fs::path> paths(cage.read.begin(), cage.read.end());
  paths.insert(paths.end(), cage.write.begin(), cage.write.end());
  return paths;
}

void hide_own_files(const Config& config, launch::CageSpec& cage) {
  Masks(config, cage).find();
}

}  // namespace relay::config
