// Searcher: grep for the tree.
//
// A search walks the directories it is given on several threads, leaves out hidden files and what .gitignore
// and .ignore say (unless told otherwise), and keeps the first matches in the order of path and line, while
// it counts on up to a bound. So the same question gives the same answer, however the threads run. It follows
// no symbolic links while walking, opens every file by one name in an open directory, and asks the mount's
// rules and the tree's policies about each. It never runs on the loop: `search` blocks and is for a pool
// thread, the stop token ends it within one buffer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/limits.h"
#include "search/line_matcher.h"
#include "vfs/tree.h"

namespace relay::search {

enum class Ignored : std::uint8_t { left_out, included };  // hidden files and ignore rules
enum class Report : std::uint8_t {
  lines,
  files,  // one match a file, found fast
  names,  // every file that fits file_pattern; none is opened to be searched
};

struct SearchRequest {
  SearchPattern pattern;
  std::vector<std::string> paths;  // tree paths of directories or files; none means /host, /tmp and /out
  std::string
      file_pattern;  // glob: without a slash for the name, with one for the path below the searched one
  Ignored ignored = Ignored::left_out;
  Report report = Report::lines;
  std::size_t context = 0;  // lines before and after
  std::size_t results_max = limits::kSearchResults;
  std::size_t total_max = limits::kSearchTotal;
  std::size_t line_bytes_max = limits::kSearchLineBytes;
  std::optional<std::chrono::milliseconds> time_max;  // from when a thread takes it up
};

struct SearchMatch {
  std::string path;  // tree path
  std::uint64_t line = 0;
  std::uint64_t column = 0;  // bytes from the start of the line, from 1, as ripgrep's --column
  std::string text;          // valid UTF-8, cut around the match to line_bytes_max
  std::vector<std::string> before, after;
};

/// The matches of one file, packed: a search that finds a million lines does not make a million strings.
struct FileMatches {
  struct Row {
    std::uint64_t line = 0;
    std::uint64_t column = 0;
    std::size_t at = 0;  // in texts: the lines before, the line itself, the lines after; each of the context
                         // ends in a newline
    std::uint32_t before_bytes = 0, text_bytes = 0, after_bytes = 0;
  };
  std::string path;  // tree path
  std::string texts;
  std::vector<Row> rows;  // in the order of lines

  [[nodiscard]] std::string_view text(const Row& row) const {
    return std::string_view(texts).substr(row.at + row.before_bytes, row.text_bytes);
  }
  [[nodiscard]] SearchMatch match(const Row& row) const;
};

enum class SearchEnd : std::uint8_t {
  complete,  // everything was searched
  counted,   // total_max was reached: there may be more
  deadline,
  stopped,  // the stop token
};

/// What a search came to.
struct SearchTotals {
  std::uint64_t total = 0;  // matching lines; files unless Report::lines
  std::uint64_t files_searched = 0;
  SearchEnd end = SearchEnd::complete;
};

struct PackedResult : SearchTotals {
  std::vector<FileMatches> files;  // sorted by path, rows by line; at most results_max rows
};

struct SearchResult : SearchTotals {
  std::vector<SearchMatch> matches;  // sorted by path and line; at most results_max
};

class Searcher {
 public:
  /// At most this many threads help all searches together; each search also uses the thread it is called on.
  explicit Searcher(std::size_t helpers);

  Result<SearchResult> search(const vfs::Tree& tree, const SearchRequest& request, std::stop_token stop = {});
  Result<PackedResult> search_packed(const vfs::Tree& tree, const SearchRequest& request,
                                     std::stop_token stop = {});

 private:
  std::size_t take_helpers(std::size_t wanted);
  std::atomic<std::size_t> free_helpers_;
};

/// The part of a line that is shown: all of it, or a window around the match with "..." where it was cut.
std::string excerpt(std::string_view line, std::size_t match_at, std::size_t bytes_max);

}  // namespace relay::search
