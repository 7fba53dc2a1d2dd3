// What the threads of a search have found. Tally is shared and counts; TopMatches belongs to one thread and
// keeps the first matches in order. Only search*.cc include this.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "search/line_scan.h"
#include "search/search.h"

namespace relay::search {

/// Shared by all threads of one search: how many, and whether to go on.
class Tally {
 public:
  Tally(const SearchRequest& request, std::stop_token outer);

  /// Counts matches; Go::stop when the bound is reached.
  Go add_matches(std::uint64_t count);
  void add_file() { files_.fetch_add(1, std::memory_order_relaxed); }
  /// Looks at the deadline and at whoever asked.
  bool should_stop();
  void finish(SearchTotals& totals) const;

 private:
  void stop(SearchEnd why);

  const SearchRequest& request_;
  const std::chrono::steady_clock::time_point started_;
  std::stop_source source_;
  std::atomic<std::uint64_t> total_ = 0, files_ = 0;
  std::atomic<SearchEnd> end_ = SearchEnd::complete;
  std::stop_token outer_;
  std::stop_callback<std::function<void()>> pass_on_;  // last: it may fire while it is made
};

/// The first results_max matches in the order of path and line, of one thread.
class TopMatches {
 public:
  explicit TopMatches(const SearchRequest& request) : request_(request) {}

  /// Begins a file; null when none of its matches could be among the first, and counting is enough.
  FileMatches* start(std::string path);
  /// The matches of the file that was started last, in the order of lines.
  void add(FileMatches& file, const LineHit& hit);
  std::vector<FileMatches> take() { return std::move(files_); }

 private:
  void prune();

  const SearchRequest& request_;
  std::vector<FileMatches> files_;
  std::size_t kept_ = 0;   // matches in files_
  std::string last_path_;  // once there are enough, nothing behind this path is wanted
  bool full_ = false;
};

/// Sorts files and keeps the first rows_max rows.
void keep_first(std::vector<FileMatches>& files, std::size_t rows_max);

}  // namespace relay::search
