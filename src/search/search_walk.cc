#include "search/search_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "vfs/dir_reader.h"
#include "vfs/tree_path.h"

namespace relay::search {
namespace {

constexpr std::size_t kBatchFiles = 32;

std::string read_small(const Fd& directory, const char* name) {
  const Fd fd(::openat(directory.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct ::stat status{};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), limits::kIgnoreFileBytes),
                   '\0');
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// By what was really opened, and by its name.
bool is_hidden(const SearchDir& dir, const std::string& name, const Fd& opened) {
  const vfs::HiddenFiles* hidden = dir.area->mount->dir().hidden();
  struct ::stat parent{}, status{};
  return hidden && (::fstat(opened.get(), &status) != 0 || hidden->hides(status) ||
                    ::fstat(dir.fd.get(), &parent) != 0 || hidden->hides_name(parent, name));
}

}  // namespace

SearchWalk::SearchWalk(const vfs::Tree& tree, const SearchRequest& request, std::optional<Glob> file_pattern,
                       Tally& tally)
    : tree_(tree),
      request_(request),
      file_pattern_(std::move(file_pattern)),
      tally_(tally),
      should_stop_([&tally] { return tally.should_stop(); }) {}

void SearchWalk::push(std::vector<SearchTask> tasks) {
  if (tasks.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    open_tasks_ += tasks.size();
    for (SearchTask& task : tasks) stack_.push_back(std::move(task));
  }
  if (tasks.size() > 1) {
    ready_.notify_all();
  } else {
    ready_.notify_one();
  }
}

bool SearchWalk::pop(SearchTask& task) {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [&] { return !stack_.empty() || open_tasks_ == 0; });
  if (stack_.empty()) return false;
  task = std::move(stack_.back());
  stack_.pop_back();
  return true;
}

void SearchWalk::done() {
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    last = --open_tasks_ == 0;
  }
  if (last) ready_.notify_all();
}

void SearchWalk::work(LineScan& scan, TopMatches& found) {
  std::vector<vfs::Tree::Place> synthetic;
  {
    const std::lock_guard lock(mutex_);
    synthetic.swap(synthetic_);
  }
  for (const vfs::Tree::Place& root : synthetic) search_synthetic(root, root.path, 0, scan, found);
  for (SearchTask task; pop(task); task = {}) {
    // A stopped search still empties its stack, so that nobody waits for ever.
    if (!tally_.should_stop()) perform(task, scan, found);
    done();
  }
}

void SearchWalk::perform(const SearchTask& task, LineScan& scan, TopMatches& found) {
  for (const std::string& name : task.files) search_file(*task.dir, name, scan, found);
  if (task.subdirectory.empty() && !task.whole) return;
  auto dir = open_below(*task.dir, task.whole ? "." : task.subdirectory);
  if (dir != nullptr) walk(std::move(dir), scan, found);
}

std::shared_ptr<SearchDir> SearchWalk::open_below(const SearchDir& dir, const std::string& name) const {
  auto fd = vfs::open_subdirectory(dir.fd, name.c_str());
  if (!fd) return nullptr;  // gone, or not for us: a search says what it can see
  if (name != "." && is_hidden(dir, name, *fd)) return nullptr;
  auto below = std::make_shared<SearchDir>();
  below->area = dir.area;
  below->fd = std::move(*fd);
  below->path = name == "." ? dir.path : vfs::join(dir.path, name);
  below->root = dir.root;
  below->ignore = dir.ignore;
  below->depth = dir.depth + 1;
  below->ask_policy = dir.ask_policy;
  return below;
}

void SearchWalk::walk(std::shared_ptr<SearchDir> dir, LineScan& scan, TopMatches& found) {
  struct Name {
    std::string text;
    vfs::FileType type;
  };
  std::vector<Name> names;
  bool has_gitignore = false, has_ignore = false, has_git = false;
  vfs::DirReader reader(dir->fd);
  for (vfs::DirReader::Entry entry; reader.next(entry);) {
    has_gitignore |= entry.name == ".gitignore";
    has_ignore |= entry.name == ".ignore";
    has_git |= entry.name == ".git";
    const bool wanted = entry.type == vfs::FileType::file || entry.type == vfs::FileType::directory;
    if (wanted) names.push_back({std::string(entry.name), entry.type});
  }
  read_ignore_files(*dir, has_gitignore, has_ignore, has_git);

  std::vector<SearchTask> tasks;
  SearchTask batch{dir, {}, "", false};
  for (Name& name : names) {
    if (!takes(*dir, name.text, name.type)) continue;
    if (name.type == vfs::FileType::directory) {
      if (dir->depth < limits::kTreeDepth) tasks.push_back({dir, {}, std::move(name.text), false});
      continue;
    }
    batch.files.push_back(std::move(name.text));
    if (batch.files.size() == kBatchFiles)
      tasks.push_back(std::exchange(batch, SearchTask{dir, {}, "", false}));
  }
  push(std::move(tasks));
  for (const std::string& name : batch.files) search_file(*dir, name, scan, found);
}

void SearchWalk::read_ignore_files(SearchDir& dir, bool has_gitignore, bool has_ignore, bool has_git) const {
  if (request_.ignored == Ignored::included || !(has_gitignore || has_ignore || has_git)) return;
  IgnoreChain::Level level{dir.path, {}, {}, has_git};
  if (has_gitignore) level.gitignore = IgnoreFile::parse(read_small(dir.fd, ".gitignore"));
  if (has_ignore) level.ignore = IgnoreFile::parse(read_small(dir.fd, ".ignore"));
  dir.ignore = std::make_shared<IgnoreChain>(std::move(level), dir.ignore);
}

bool SearchWalk::takes(const SearchDir& dir, std::string_view name, vfs::FileType type) const {
  const bool leaves_out = request_.ignored == Ignored::left_out;
  if (leaves_out && name.starts_with('.')) return false;
  if (type == vfs::FileType::file && file_pattern_ && !fits_pattern(dir, name)) return false;
  const vfs::MountRules& rules = dir.area->mount->rules();
  const bool plain = rules.empty() && !dir.ask_policy && (!leaves_out || dir.ignore == nullptr);
  if (plain) return true;
  const std::string path = vfs::join(dir.path, name);
  if (leaves_out && dir.ignore != nullptr && dir.ignore->ignores(path, type)) return false;
  const bool is_dir = type == vfs::FileType::directory;
  if (!rules.empty() && !(is_dir ? rules.allows_passing(path) : rules.allows(path))) return false;
  if (!dir.ask_policy) return true;
  const std::string tree_path = vfs::join(dir.area->tree_path, path);
  return is_dir ? tree_.allows_passing(tree_path) : tree_.allows_reading(tree_path);
}

bool SearchWalk::fits_pattern(const SearchDir& dir, std::string_view name) const {
  if (!file_pattern_->has_slash()) return file_pattern_->matches(name);
  const std::string path = vfs::join(dir.path, name);
  const std::string_view below = std::string_view(path).substr(dir.root.empty() ? 0 : dir.root.size() + 1);
  return file_pattern_->matches(below);
}

// Counts the matches of one file and keeps those that may be shown. The path is put together at the first
// match: most files have none.
class SearchWalk::FileSink final : public HitSink {
 public:
  FileSink(SearchWalk& walk, TopMatches& found, std::function<std::string()> path)
      : walk_(walk), found_(found), path_(std::move(path)) {}
  ~FileSink() override { (void)tell(); }

  Go take(const LineHit& hit) override {
    if (!started_) file_ = found_.start(path_());
    started_ = true;
    if (file_ != nullptr) found_.add(*file_, hit);
    ++untold_;
    if (walk_.request_.report != Report::lines) return Go::stop;
    return untold_ < kToldAtOnce ? Go::on : tell();
  }

 private:
  static constexpr std::uint64_t kToldAtOnce =
      256;  // the tally is shared by all threads: it is touched rarely

  Go tell() { return untold_ == 0 ? Go::on : walk_.tally_.add_matches(std::exchange(untold_, 0)); }

  SearchWalk& walk_;
  TopMatches& found_;
  std::function<std::string()> path_;
  FileMatches* file_ = nullptr;
  bool started_ = false;
  std::uint64_t untold_ = 0;
};

void SearchWalk::search_file(const SearchDir& dir, const std::string& name, LineScan& scan,
                             TopMatches& found) {
  if (tally_.should_stop()) return;
  const Fd fd(
      ::openat(dir.fd.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct ::stat status{};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (is_hidden(dir, name, fd)) return;
  tally_.add_file();
  FileSink sink(*this, found, [&] { return vfs::join(vfs::join(dir.area->tree_path, dir.path), name); });
  if (request_.report == Report::names)
    (void)sink.take({});
  else
    scan.search(fd, static_cast<std::uint64_t>(status.st_size), should_stop_, sink);
}

void SearchWalk::search_content(const std::string& tree_path, const std::string& content, LineScan& scan,
                                TopMatches& found) {
  if (tally_.should_stop()) return;
  tally_.add_file();
  FileSink sink(*this, found, [&] { return tree_path; });
  if (request_.report == Report::names)
    (void)sink.take({});
  else
    scan.search(content, sink);
}

}  // namespace relay::search
