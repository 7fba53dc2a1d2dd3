#include "search/search.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "search/line_scan.h"
#include "search/search_results.h"
#include "search/search_walk.h"

namespace relay::search {
namespace {

// What one thread owns: its matcher with RE2's tables, its window, its matches.
struct Worker {
  Worker(LineMatcher compiled, const SearchRequest& request)
      : matcher(std::move(compiled)),
        scan(matcher, request.report == Report::lines ? request.context : 0),
        found(request) {}
  LineMatcher matcher;
  LineScan scan;
  TopMatches found;
};

Result<std::optional<Glob>> parse_file_pattern(const std::string& text) {
  if (text.empty()) return std::optional<Glob>();
  auto glob = Glob::parse(text);
  if (!glob) return relay::fail(invalid(fmt::format("filePattern: {}", glob.error().message)));
  return std::optional<Glob>(std::move(*glob));
}

// Names are found without a pattern, which no matcher takes; theirs is never asked.
SearchPattern pattern_of(const SearchRequest& request) {
  SearchPattern pattern = request.pattern;
  if (request.report == Report::names) pattern.text = "x";
  return pattern;
}

// Paths that lie in other paths of the list would count their matches twice.
Result<std::vector<std::string>> distinct_roots(const vfs::Tree& tree,
                                                const std::vector<std::string>& asked) {
  std::vector<vfs::TreePath> paths;
  for (const std::string& text : asked) {
    RELAY_TRY(auto path, vfs::parse_tree_path(text));
    paths.push_back(std::move(path));
  }
  for (const char* area : {"/host", "/tmp", "/out"}) {
    const bool there =
        asked.empty() && tree.stat(area) && !(std::string_view(area) == "/host" && tree.parts().host.empty());
    if (there) paths.push_back(*vfs::parse_tree_path(area));
  }
  std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) { return a.parts < b.parts; });
  std::vector<std::string> roots;
  for (const vfs::TreePath& path : paths)
    if (roots.empty() || !vfs::is_below(path.text(), roots.back())) roots.push_back(path.text());
  return roots;
}

}  // namespace

Searcher::Searcher(std::size_t helpers) : free_helpers_(helpers) {}

std::size_t Searcher::take_helpers(std::size_t wanted) {
  std::size_t free = free_helpers_.load();
  while (!free_helpers_.compare_exchange_weak(free, free - std::min(free, wanted))) {
  }
  return std::min(free, wanted);
}

Result<PackedResult> Searcher::search_packed(const vfs::Tree& tree, const SearchRequest& request,
                                             std::stop_token stop) {
  RELAY_TRY(auto file_pattern, parse_file_pattern(request.file_pattern));
  RELAY_TRY(const auto roots, distinct_roots(tree, request.paths));
  const SearchPattern pattern = pattern_of(request);
  RELAY_TRY(auto matcher, LineMatcher::compile(pattern));
  Tally tally(request, std::move(stop));
  SearchWalk walk(tree, request, std::move(file_pattern), tally);
  for (const std::string& root : roots) RELAY_CHECK(walk.add_root(root));

  const std::size_t helpers = walk.is_small() ? 0 : take_helpers(limits::kSearchThreads - 1);
  std::vector<std::unique_ptr<Worker>> workers;
  workers.push_back(std::make_unique<Worker>(std::move(matcher), request));
  for (std::size_t i = 0; i < helpers; ++i) {
    workers.push_back(std::make_unique<Worker>(LineMatcher::compile(pattern).value(), request));
  }
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers.size(); ++i) {
      threads.emplace_back([&walk, worker = workers[i].get()] { walk.work(worker->scan, worker->found); });
    }
    walk.work(workers[0]->scan, workers[0]->found);
  }
  free_helpers_ += helpers;

  PackedResult result;
  for (const auto& worker : workers) {
    for (FileMatches& file : worker->found.take()) result.files.push_back(std::move(file));
  }
  keep_first(result.files, request.results_max);
  tally.finish(result);
  return result;
}

Result<SearchResult> Searcher::search(const vfs::Tree& tree, const SearchRequest& request,
                                      std::stop_token stop) {
  RELAY_TRY(const PackedResult packed, search_packed(tree, request, std::move(stop)));
  SearchResult result;
  static_cast<SearchTotals&>(result) = packed;
  for (const FileMatches& file : packed.files) {
    for (const FileMatches::Row& row : file.rows) result.matches.push_back(file.match(row));
  }
  return result;
}

}  // namespace relay::search
