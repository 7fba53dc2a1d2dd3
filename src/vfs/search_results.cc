#include "vfs/search_results.h"

#include <algorithm>

#include "base/bytes.h"

namespace relay::vfs {
namespace {

constexpr std::string_view kCut = "...";

bool in_order(const FileMatches& a, const FileMatches& b) {
  return a.path < b.path;
}

// Most lines are ASCII; a loop without a way out early is one that the compiler makes wide.
std::string to_text(std::string_view bytes) {
  unsigned char seen = 0;
  for (const char c : bytes) seen |= static_cast<unsigned char>(c);
  return seen < 0x80 ? std::string(bytes) : to_valid_utf8(bytes);
}

std::vector<std::string> split_lines(std::string_view text, std::size_t bytes_max) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(excerpt(line, 0, bytes_max));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string excerpt(std::string_view line, std::size_t match_at, std::size_t bytes_max) {
  if (line.size() <= bytes_max) return to_text(line);
  // The match is a quarter into the window, so that a reader sees what leads to it.
  const std::size_t lead = bytes_max / 4;
  std::size_t start = match_at + lead > bytes_max ? match_at - std::min(lead, match_at) : 0;
  start = std::min(start, line.size() - bytes_max);
  while (start > 0 && start < line.size() && (static_cast<unsigned char>(line[start]) & 0xC0) == 0x80) ++start;
  const std::string_view window = utf8_prefix(line.substr(start), bytes_max);
  std::string text(start > 0 ? kCut : "");
  text += to_valid_utf8(window);
  if (start + window.size() < line.size()) text += kCut;
  return text;
}

Tally::Tally(const SearchRequest& request, std::stop_token outer)
    : request_(request), outer_(std::move(outer)), pass_on_(outer_, [this] { stop(SearchEnd::stopped); }) {}

void Tally::stop(SearchEnd why) {
  SearchEnd expected = SearchEnd::complete;
  end_.compare_exchange_strong(expected, why);
  source_.request_stop();
}

Go Tally::add_match() {
  const std::uint64_t before = total_.fetch_add(1, std::memory_order_relaxed);
  if (before + 1 < request_.total_max) return Go::on;
  stop(SearchEnd::counted);
  return Go::stop;
}

bool Tally::should_stop() {
  if (request_.deadline && std::chrono::steady_clock::now() >= *request_.deadline) stop(SearchEnd::deadline);
  return source_.stop_requested();
}

void Tally::finish(SearchResult& result) const {
  result.total = std::min<std::uint64_t>(total_, request_.total_max);
  result.files_searched = files_;
  result.end = end_;
}

bool TopMatches::wants(std::string_view path) const {
  return !full_ || path <= last_path_;
}

void TopMatches::add(const std::string& path, const LineHit& hit) {
  if (files_.empty() || files_.back().path != path) {
    // A new file begins: the place to look whether there is too much.
    if (kept_ / 2 >= request_.results_max + 16) prune();
    files_.push_back({path, {}});
  }
  std::vector<SearchMatch>& lines = files_.back().lines;
  if (lines.size() >= request_.results_max) return;
  SearchMatch match{"", hit.line, hit.column, "", {}, {}};
  if (request_.report == Report::lines) {
    match.text = excerpt(hit.text, hit.column - 1, request_.line_bytes_max);
    match.before = split_lines(hit.before, request_.line_bytes_max);
    match.after = split_lines(hit.after, request_.line_bytes_max);
  }
  lines.push_back(std::move(match));
  ++kept_;
}

void TopMatches::prune() {
  std::sort(files_.begin(), files_.end(), in_order);
  std::size_t kept = 0, files = 0;
  while (files < files_.size() && kept < request_.results_max) kept += files_[files++].lines.size();
  files_.resize(files);
  kept_ = kept;
  full_ = true;
  last_path_ = files_.empty() ? std::string() : files_.back().path;
}

std::vector<SearchMatch> merge(std::vector<FileMatches> files, std::size_t results_max) {
  std::sort(files.begin(), files.end(), in_order);
  std::size_t total = 0;
  for (const FileMatches& file : files) total += file.lines.size();
  std::vector<SearchMatch> matches;
  matches.reserve(std::min(total, results_max));
  for (FileMatches& file : files) {
    for (SearchMatch& match : file.lines) {
      if (matches.size() == results_max) return matches;
      match.path = file.path;
      matches.push_back(std::move(match));
    }
  }
  return matches;
}

}  // namespace relay::vfs
