#include "vfs/hidden_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "base/limits.h"
#include "vfs/dir_reader.h"

namespace relay::vfs {
namespace {

namespace fs = std::filesystem;

// Files with several names are rare; a project full of them must not make each read walk the state directory.
constexpr auto kInsideAge = std::chrono::milliseconds(200);

template <class Ids>
void sort_unique(Ids& ids) {
  std::ranges::sort(ids);
  const auto rest = std::ranges::unique(ids);
  ids.erase(rest.begin(), rest.end());
}

// The parts of an absolute path that are still to be walked; a link puts its own in front.
void push_front(std::deque<std::string>& parts, const fs::path& path) {
  std::vector<std::string> own;
  for (const fs::path& part : path.relative_path())
    if (!part.empty() && part != ".") own.push_back(part.string());
  parts.insert(parts.begin(), own.begin(), own.end());
}

}  // namespace

HiddenFiles::HiddenFiles(std::vector<fs::path> paths) : paths_(std::move(paths)) {
  refresh();
}

void HiddenFiles::refresh() {
  auto fresh = std::make_shared<Snapshot>();
  for (const fs::path& path : paths_) look_at(fs::absolute(path), *fresh);
  sort_unique(fresh->hidden);
  sort_unique(fresh->pinned);
  const std::lock_guard lock(mutex_);
  snapshot_ = std::move(fresh);
  inside_at_ = {};
}

// Walks the path as the kernel would. Each part is pinned, the last is hidden, and so is every link that the
// last one leads through.
void HiddenFiles::look_at(const fs::path& path, Snapshot& out) {
  std::deque<std::string> pending;
  push_front(pending, path);
  fs::path at = "/";
  for (std::size_t links = 0; !pending.empty() && links <= limits::kLinksFollowed;) {
    const std::string part = std::move(pending.front());
    pending.pop_front();
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    const bool is_last = pending.empty();
    struct ::stat parent{}, status{};
    if (::lstat(at.c_str(), &parent) != 0) return;
    if (is_last && part.ends_with('*')) {
      out.named.push_back({id_of(parent), part.substr(0, part.size() - 1), Named::Match::beginning});
      return;
    }
    if (is_last) out.named.push_back({id_of(parent), part});
    const fs::path here = at / part;
    if (::lstat(here.c_str(), &status) != 0) return;
    (is_last ? out.hidden : out.pinned).push_back(id_of(status));
    if (!S_ISLNK(status.st_mode)) {
      at = here;
      continue;
    }
    std::error_code error;
    const fs::path target = fs::read_symlink(here, error);
    if (error) return;
    ++links;
    if (target.is_absolute()) at = "/";
    push_front(pending, target);
  }
}

std::shared_ptr<const HiddenFiles::Snapshot> HiddenFiles::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

bool HiddenFiles::hides(const struct ::stat& status) const {
  const Id id = id_of(status);
  if (std::ranges::binary_search(snapshot()->hidden, id)) return true;
  return S_ISREG(status.st_mode) && status.st_nlink > 1 && hides_link(id);
}

// A file of the state directory may have a second name somewhere else.
bool HiddenFiles::hides_link(Id id) const {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (inside_at_ == std::chrono::steady_clock::time_point{} || now - inside_at_ > kInsideAge) {
    inside_.clear();
    for (const fs::path& path : paths_) {
      std::error_code ignored;
      for (fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                                  ignored);
           entry != fs::recursive_directory_iterator() && inside_.size() < limits::kHiddenFiles;
           entry.increment(ignored)) {
        struct ::stat status{};
        if (::lstat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1)
          inside_.push_back(id_of(status));
        if (ignored) break;
      }
    }
    std::ranges::sort(inside_);
    inside_at_ = now;
  }
  return std::ranges::binary_search(inside_, id);
}

bool HiddenFiles::hides_name(const struct ::stat& parent, std::string_view name) const {
  const auto known = snapshot();
  return std::ranges::any_of(
      known->named, [&](const Named& entry) { return entry.covers(name) && entry.parent == id_of(parent); });
}

bool HiddenFiles::pins(const struct ::stat& status) const {
  return std::ranges::binary_search(snapshot()->pinned, id_of(status));
}

bool HiddenFiles::hides_entry(const Fd& directory, const char* name) const {
  struct ::stat status{};
  if (::fstat(directory.get(), &status) == 0 && hides_name(status, name)) return true;
  return ::fstatat(directory.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0 && hides(status);
}

bool HiddenFiles::holds(const Fd& directory) const {
  Fd at(::openat(directory.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct ::stat status{}, above{};
  while (at.is_open() && ::fstat(at.get(), &status) == 0) {
    if (hides(status)) return true;
    Fd parent(::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!parent.is_open() || ::fstat(parent.get(), &above) != 0 || id_of(above) == id_of(status))
      return false;
    at = std::move(parent);
  }
  return false;
}

}  // namespace relay::vfs
