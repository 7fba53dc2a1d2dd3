// SearchWalk: the directories of one search, shared out among its threads. Only search*.cc include this.
//
// The work is a stack of directories and batches of files: a thread that is free takes the newest. A
// directory holds its descriptor as long as something beneath it waits, and the newest-first order keeps that
// to about the depth of the tree times the number of threads.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "search/gitignore.h"
#include "search/search.h"
#include "search/search_results.h"

namespace relay::search {

/// A mount as a search sees it.
struct SearchArea {
  std::shared_ptr<const vfs::Mount> mount;
  std::string tree_path;  // "/host/project"
};

struct SearchDir {
  std::shared_ptr<const SearchArea> area;
  Fd fd;
  std::string path;  // relative to the mount
  std::string root;  // the path that the search started from, for patterns with a slash
  std::shared_ptr<const IgnoreChain> ignore;
  std::size_t depth = 0;
  bool ask_policy = false;  // only parts of it may be read
};

struct SearchTask {
  std::shared_ptr<const SearchDir> dir;  // the directory itself, or the one that the names are in
  std::vector<std::string> files;
  std::string subdirectory;  // set: open this one in dir; otherwise search the files
  bool whole = false;        // a root: walk dir itself
};

class SearchWalk {
 public:
  SearchWalk(const vfs::Tree& tree, const SearchRequest& request, std::optional<Glob> file_pattern,
             Tally& tally);

  /// Adds a path to be searched; before the threads start.
  vfs::FileResult<> add_root(const std::string& path);
  /// Takes tasks until none is left; every thread calls it once, with its own scan.
  void work(LineScan& scan, TopMatches& found);
  [[nodiscard]] bool is_small() const { return stack_.size() <= 1 && !any_directory_; }

 private:
  void push(std::vector<SearchTask> tasks);
  bool pop(SearchTask& task);
  void done();

  vfs::FileResult<> add_mount_root(const vfs::Tree::Place& place);
  void search_synthetic(const vfs::Tree::Place& root, const std::string& path, std::size_t depth,
                        LineScan& scan, TopMatches& found);
  void perform(const SearchTask& task, LineScan& scan, TopMatches& found);
  void walk(std::shared_ptr<SearchDir> dir, LineScan& scan, TopMatches& found);
  void search_file(const SearchDir& dir, const std::string& name, LineScan& scan, TopMatches& found);
  void search_content(const std::string& tree_path, const std::string& content, LineScan& scan,
                      TopMatches& found);
  class FileSink;
  [[nodiscard]] std::shared_ptr<SearchDir> open_below(const SearchDir& dir, const std::string& name) const;
  void read_ignore_files(SearchDir& dir, bool has_gitignore, bool has_ignore, bool has_git) const;
  [[nodiscard]] std::shared_ptr<const IgnoreChain> ignore_above(const vfs::Mount& mount,
                                                                std::string_view path) const;
  [[nodiscard]] bool takes(const SearchDir& dir, std::string_view name, vfs::FileType type) const;
  [[nodiscard]] bool fits_pattern(const SearchDir& dir, std::string_view name) const;

  const vfs::Tree& tree_;
  const SearchRequest& request_;
  const std::optional<Glob> file_pattern_;
  Tally& tally_;
  const std::function<bool()> should_stop_;
  bool any_directory_ = false;
  std::vector<vfs::Tree::Place>
      synthetic_;  // roots whose files are made up: few and small, one thread searches them

  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<SearchTask> stack_;
  std::size_t open_tasks_ = 0;  // waiting or being worked on
};

}  // namespace relay::search
