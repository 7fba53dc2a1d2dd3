#include "vfs/tree.h"

#include <algorithm>

namespace relay::vfs {
namespace {

constexpr std::string_view kStateName = ".relay";  // below /tmp
constexpr std::size_t kPlacesNamed = 5;
constexpr std::string_view kHostPrefix = "/host/";
constexpr std::string_view kNotAllowed = "policy.filesystem does not allow it";
constexpr FileStat kVirtualDir{FileType::directory, 0, 0, 0555};

// Mounts know their paths by other names: what the caller hears is the path that it asked for.
template <class T>
FileResult<T> told_as(FileResult<T> result, const TreePath& path) {
  if (result) return result;
  return fail(retold(std::move(result).error(), path.text()));
}

ReadChunk cut(const std::string& content, std::uint64_t offset, std::size_t length) {
  const std::size_t start = std::min<std::uint64_t>(offset, content.size());
  std::string bytes = content.substr(start, length);
  const bool eof = start + bytes.size() >= content.size();
  return {std::move(bytes), content.size(), eof};
}

FileResult<> check_ending(const TreePath& path, const FileStat& found) {
  if (path.ending == PathEnding::any || found.type == FileType::directory) return {};
  return fail(file_error(ENOTDIR, path.text()));
}

bool is_virtual(const Tree::Place& place) {
  return place.mount == nullptr && place.synthetic == nullptr;
}

}  // namespace

Tree::Tree(TreeParts parts) : parts_(std::move(parts)) {}

Tree Tree::narrowed(policy::FilesystemPolicy policy) const {
  Tree tree = *this;
  tree.policies_.push_back(std::move(policy));
  return tree;
}

Tree Tree::guarded(WriteGuard guard) const {
  Tree tree = *this;
  tree.guard_ = std::move(guard);
  return tree;
}

bool Tree::allows(std::string_view path, PathUse use) const {
  const bool writes = use == PathUse::write || use == PathUse::write_all;
  if (writes && guard_ && path.starts_with(kHostPrefix) && !guard_(path)) return false;
  return std::all_of(policies_.begin(), policies_.end(), [&](const policy::FilesystemPolicy& policy) {
    switch (use) {
      case PathUse::pass: return policy::may_pass(policy, path);
      case PathUse::read: return policy::may_read(policy, path);
      case PathUse::write: return policy::may_write(policy, path);
      case PathUse::write_all: return policy::may_write_all_below(policy, path);
    }
    return false;
  });
}

bool Tree::allows_reading(std::string_view path) const {
  return allows(path, PathUse::read);
}

bool Tree::allows_reading_all_below(std::string_view path) const {
  return std::all_of(policies_.begin(), policies_.end(),
                     [&](const auto& policy) { return policy::may_read_all_below(policy, path); });
}

bool Tree::allows_passing(std::string_view path) const {
  return allows(path, PathUse::pass);
}

PathJudge Tree::judge_of(const Place& place) const {
  if ((policies_.empty() && !guard_) || place.tree_path.parts.empty()) return {};
  TreePath root = place.tree_path;
  root.parts.resize(std::min<std::size_t>(root.parts.size(), root.parts.front() == "host" ? 2 : 1));
  return [this, prefix = root.text()](std::string_view path, PathUse use) {
    return allows(join(prefix, path), use);
  };
}

Result<std::shared_ptr<Mount>> LazyMount::get() {
  const std::lock_guard lock(mutex_);
  if (!mount_) {
    RELAY_TRY(mount_, open_());
  }
  return mount_;
}

bool LazyMount::is(const std::shared_ptr<Mount>& mount) const {
  const std::lock_guard lock(mutex_);
  return mount_ && mount_ == mount;
}

FileResult<Tree::Place> Tree::find_place(std::string_view text) const {
  RELAY_FILE_TRY(TreePath path, parse_tree_path(text));
  Place place{std::move(path), nullptr, nullptr, ""};
  const std::vector<std::string>& parts = place.tree_path.parts;
  if (parts.empty() || (parts.size() == 1 && parts[0] == "host")) return place;
  place.path = place.tree_path.below(parts[0] == "host" ? 2 : 1);
  if (parts[0] == "tmp") place.mount = parts_.tmp;
  if (parts.size() > 1 && parts[0] == "tmp" && parts[1] == kStateName) {
    place.path = place.tree_path.below(2);
    place.mount = nullptr;
    if (parts_.state) {
      auto opened = parts_.state->get();
      if (!opened) return fail(file_error(EIO, place.tree_path.text(), opened.error().message));
      place.mount = std::move(*opened);
    }
  }
  if (parts[0] == "out") place.mount = parts_.out;
  if (parts[0] == "mcps") place.synthetic = parts_.mcps;
  if (parts[0] == "host") {
    for (const auto& mount : parts_.host) {
      if (mount->spec().name == parts[1]) place.mount = mount;
    }
  }
  if (is_virtual(place))
    return fail(
        file_error(ENOENT, place.tree_path.text(), "no such file or directory; there is " + places()));
  return place;
}

// "/host/project, /host/data, /tmp, /out": for who guessed. What may not be seen is not named.
std::string Tree::places() const {
  std::string list;
  std::size_t named = 0;
  for (const auto& mount : parts_.host) {
    const std::string path = std::string(kHostPrefix) + mount->spec().name;
    if (allows_passing(path) && ++named <= kPlacesNamed) list += path + ", ";
  }
  if (named > kPlacesNamed) list += "more below /host, ";
  if (parts_.tmp && parts_.out) return list + "/tmp, /out";
  return list +
         "no /tmp and /out, because nothing tells this client from others: it needs an MCP session, or "
         "\"session\" in a call of run_js or run_py";
}

FileResult<Tree::Place> Tree::place_to_read(std::string_view text) const {
  RELAY_FILE_TRY(Place place, find_place(text));
  const std::string path = place.tree_path.text();
  if (!allows_passing(path)) return fail(file_error(EACCES, path, kNotAllowed));
  return place;
}

FileResult<Tree::Place> Tree::place_to_write(std::string_view text) const {
  RELAY_FILE_TRY(Place place, find_place(text));
  const std::string path = place.tree_path.text();
  const bool allowed = allows(path, PathUse::write);
  if (!allowed && !allows_reading(path)) return fail(file_error(EACCES, path, kNotAllowed));
  if (guard_ && path.starts_with(kHostPrefix) && !guard_(path))
    return fail(file_error(EACCES, path, "the policy does not let a run write it; see policy.allow"));
  if (!allowed || is_virtual(place)) return fail(file_error(EROFS, path));
  return place;
}

Tree::Area Tree::area_of(std::string_view path) const {
  const auto place = find_place(path);
  if (!place) return Area::none;
  if (place->synthetic != nullptr) return Area::synthetic;
  if (place->mount == nullptr) return Area::none;
  const bool is_workspace = place->mount == parts_.tmp || place->mount == parts_.out ||
                            (parts_.state && parts_.state->is(place->mount));
  return is_workspace ? Area::workspace : Area::host;
}

FileResult<FileStat> Tree::stat(std::string_view path, LastLink last) const {
  RELAY_FILE_TRY(const Place place, place_to_read(path));
  if (is_virtual(place)) return kVirtualDir;
  auto found = place.mount != nullptr ? place.mount->stat(place.path, last, judge_of(place))
                                      : place.synthetic->stat(place.path);
  if (!found) return told_as(std::move(found), place.tree_path);
  RELAY_FILE_CHECK(check_ending(place.tree_path, *found));
  const std::string asked = place.tree_path.text();
  if (found->type != FileType::directory && !allows_reading(asked))
    return fail(file_error(EACCES, asked, kNotAllowed));
  return found;
}

FileResult<DirectoryListing> Tree::list_virtual(const TreePath& path) const {
  DirectoryListing listing;
  const auto add = [&](const std::string& name) {
    TreePath below = path;
    below.parts.push_back(name);
    if (allows_passing(below.text())) listing.entries.push_back({name, FileType::directory, 0});
  };
  if (path.parts.empty()) {
    if (!parts_.host.empty()) add("host");
    if (parts_.mcps != nullptr) add("mcps");
    if (parts_.out != nullptr) add("out");
    if (parts_.tmp != nullptr) add("tmp");
  } else {
    for (const auto& mount : parts_.host) add(mount->spec().name);
  }
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return listing;
}

FileResult<DirectoryListing> Tree::list(std::string_view path, std::size_t entries_max) const {
  RELAY_FILE_TRY(const Place place, place_to_read(path));
  if (is_virtual(place)) return list_virtual(place.tree_path);
  auto listing = place.mount != nullptr ? place.mount->list(place.path, entries_max, judge_of(place))
                                        : place.synthetic->list(place.path);
  if (!listing) return told_as(std::move(listing), place.tree_path);
  const std::string directory = place.tree_path.text();
  if (allows_reading_all_below(directory)) return listing;
  std::erase_if(listing->entries, [&](const DirEntry& entry) {
    const PathUse use = entry.type == FileType::directory ? PathUse::pass : PathUse::read;
    return !allows(join(directory, entry.name), use);
  });
  return listing;
}

FileResult<ReadChunk> Tree::read(std::string_view path, std::uint64_t offset, std::size_t length) const {
  RELAY_FILE_TRY(const Place place, place_to_read(path));
  const TreePath& tree_path = place.tree_path;
  if (is_virtual(place)) return fail(file_error(EISDIR, tree_path.text()));
  if (!allows_reading(tree_path.text())) return fail(file_error(EACCES, tree_path.text(), kNotAllowed));
  if (tree_path.ending == PathEnding::directory) RELAY_FILE_CHECK(stat(path));
  if (place.mount != nullptr)
    return told_as(place.mount->read(place.path, offset, length, judge_of(place)), tree_path);
  auto content = place.synthetic->read(place.path);
  if (!content) return fail(retold(std::move(content).error(), tree_path.text()));
  return cut(*content, offset, std::min(length, limits::kFileReadBytes));
}

FileResult<WriteReceipt> Tree::write(const WriteRequest& request) {
  RELAY_FILE_TRY(const Place place, place_to_write(request.path));
  const TreePath& path = place.tree_path;
  if (path.ending == PathEnding::directory) return fail(file_error(EISDIR, path.text()));
  if (place.mount != nullptr) return told_as(place.mount->write(place.path, request, judge_of(place)), path);
  auto written = place.synthetic->write(place.path, request.bytes);
  if (!written) return fail(retold(std::move(written).error(), path.text()));
  return WriteReceipt{request.bytes.size(), request.bytes.size(), false};
}

FileResult<> Tree::truncate(std::string_view path, std::uint64_t size) {
  RELAY_FILE_TRY(const Place place, place_to_write(path));
  if (place.mount == nullptr) return fail(file_error(EROFS, place.tree_path.text()));
  return told_as(place.mount->truncate(place.path, size, judge_of(place)), place.tree_path);
}

FileResult<> Tree::make_dir(std::string_view path, Depth depth) {
  RELAY_FILE_TRY(const Place place, place_to_write(path));
  if (place.mount == nullptr) return fail(file_error(EROFS, place.tree_path.text()));
  return told_as(place.mount->make_dir(place.path, depth, judge_of(place)), place.tree_path);
}

FileResult<> Tree::remove(std::string_view path, Depth depth) {
  RELAY_FILE_TRY(const Place place, place_to_write(path));
  if (place.mount == nullptr) return fail(file_error(EROFS, place.tree_path.text()));
  return told_as(place.mount->remove(place.path, depth, judge_of(place)), place.tree_path);
}

FileResult<> Tree::rename(std::string_view from, std::string_view to) {
  RELAY_FILE_TRY(const Place source, place_to_write(from));
  RELAY_FILE_TRY(const Place target, place_to_write(to));
  if (source.mount == nullptr || target.mount == nullptr)
    return fail(file_error(EROFS, source.tree_path.text()));
  const PathJudge source_judge = judge_of(source), target_judge = judge_of(target);
  // The guard knows single paths, and what a directory holds changes its path with it.
  const bool is_guarded = guard_ && source.tree_path.text().starts_with(kHostPrefix);
  const Mount::Beneath beneath = is_guarded ? Mount::Beneath::one_by_one : Mount::Beneath::at_once;
  return told_as(Mount::rename({*source.mount, source.path, source_judge},
                               {*target.mount, target.path, target_judge}, beneath),
                 source.tree_path);
}

}  // namespace relay::vfs
