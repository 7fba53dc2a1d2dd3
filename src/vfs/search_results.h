// What the threads of a search have found. Tally is shared and counts; TopMatches belongs to one thread and
// keeps the first matches in order. Only search*.cc include this.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "vfs/line_scan.h"
#include "vfs/search.h"

namespace relay::vfs {

/// Shared by all threads of one search: how many, and whether to go on.
class Tally {
 public:
  Tally(const SearchRequest& request, std::stop_token outer);

  /// Counts one match; Go::stop when the bound is reached.
  Go add_match();
  void add_file() { files_.fetch_add(1, std::memory_order_relaxed); }
  /// Looks at the deadline and at whoever asked.
  bool should_stop();
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  void finish(SearchResult& result) const;

 private:
  void stop(SearchEnd why);

  const SearchRequest& request_;
  std::stop_source source_;
  std::atomic<std::uint64_t> total_ = 0, files_ = 0;
  std::atomic<SearchEnd> end_ = SearchEnd::complete;
  std::stop_token outer_;
  std::stop_callback<std::function<void()>> pass_on_;  // last: it may fire while it is made
};

/// The matches of one file, in the order of lines.
struct FileMatches {
  std::string path;
  std::vector<SearchMatch> lines;  // their own paths are empty until the end: most are never shown
};

/// The first results_max matches in the order of path and line, of one thread.
class TopMatches {
 public:
  explicit TopMatches(const SearchRequest& request) : request_(request) {}

  /// Could a match in this file be among the first? When not, counting is enough.
  [[nodiscard]] bool wants(std::string_view path) const;
  /// All matches of a file come one after the other, in the order of lines.
  void add(const std::string& path, const LineHit& hit);
  std::vector<FileMatches> take() { return std::move(files_); }

 private:
  void prune();

  const SearchRequest& request_;
  std::vector<FileMatches> files_;
  std::size_t kept_ = 0;   // matches in files_
  std::string last_path_;  // once there are enough, nothing behind this path is wanted
  bool full_ = false;
};

/// Joins what the threads have found and gives each match its path.
std::vector<SearchMatch> merge(std::vector<FileMatches> files, std::size_t results_max);

}  // namespace relay::vfs
