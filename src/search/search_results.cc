#include "search/search_results.h"

#include <algorithm>

#include "base/bytes.h"

namespace relay::search {
namespace {

constexpr std::string_view kCut = "...";

bool in_order(const FileMatches& a, const FileMatches& b) {
  return a.path < b.path;
}

// Most lines are ASCII; a loop without a way out early is one that the compiler makes wide.
bool is_ascii(std::string_view bytes) {
  unsigned char seen = 0;
  for (const char c : bytes) seen |= static_cast<unsigned char>(c);
  return seen < 0x80;
}

void append_text(std::string& out, std::string_view bytes) {
  if (is_ascii(bytes)) {
    out += bytes;
  } else {
    out += to_valid_utf8(bytes);
  }
}

// What is shown of a line: all of it, or a window around the match.
void append_excerpt(std::string& out, std::string_view line, std::size_t match_at, std::size_t bytes_max) {
  if (line.size() <= bytes_max) return append_text(out, line);
  // The match is a quarter into the window, so that a reader sees what leads to it.
  const std::size_t lead = bytes_max / 4;
  std::size_t start = match_at + lead > bytes_max ? match_at - std::min(lead, match_at) : 0;
  start = std::min(start, line.size() - bytes_max);
  while (start > 0 && start < line.size() && (static_cast<unsigned char>(line[start]) & 0xC0) == 0x80)
    ++start;
  const std::string_view window = utf8_prefix(line.substr(start), bytes_max);
  if (start > 0) out += kCut;
  append_text(out, window);
  if (start + window.size() < line.size()) out += kCut;
}

void append_context(std::string& out, std::string_view lines, std::size_t bytes_max) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    append_excerpt(out, line, 0, bytes_max);
    out += '\n';
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string excerpt(std::string_view line, std::size_t match_at, std::size_t bytes_max) {
  std::string text;
  append_excerpt(text, line, match_at, bytes_max);
  return text;
}

SearchMatch FileMatches::match(const Row& row) const {
  const std::string_view packed(texts);
  return {path,
          row.line,
          row.column,
          std::string(text(row)),
          split_lines(packed.substr(row.at, row.before_bytes)),
          split_lines(packed.substr(row.at + row.before_bytes + row.text_bytes, row.after_bytes))};
}

Tally::Tally(const SearchRequest& request, std::stop_token outer)
    : request_(request),
      started_(std::chrono::steady_clock::now()),
      outer_(std::move(outer)),
      pass_on_(outer_, [this] { stop(SearchEnd::stopped); }) {}

void Tally::stop(SearchEnd why) {
  SearchEnd expected = SearchEnd::complete;
  end_.compare_exchange_strong(expected, why);
  source_.request_stop();
}

Go Tally::add_matches(std::uint64_t count) {
  const std::uint64_t before = total_.fetch_add(count, std::memory_order_relaxed);
  if (before + count < request_.total_max) return Go::on;
  stop(SearchEnd::counted);
  return Go::stop;
}

bool Tally::should_stop() {
  if (request_.time_max && std::chrono::steady_clock::now() - started_ >= *request_.time_max)
    stop(SearchEnd::deadline);
  return source_.stop_requested();
}

void Tally::finish(SearchTotals& totals) const {
  totals.total = std::min<std::uint64_t>(total_, request_.total_max);
  totals.files_searched = files_;
  totals.end = end_;
}

FileMatches* TopMatches::start(std::string path) {
  if (full_ && path > last_path_) return nullptr;
  if (kept_ / 2 >= request_.results_max + 16) prune();
  files_.push_back({std::move(path), {}, {}});
  return &files_.back();
}

void TopMatches::add(FileMatches& file, const LineHit& hit) {
  if (file.rows.size() >= request_.results_max) return;
  FileMatches::Row row{hit.line, hit.column, file.texts.size(), 0, 0, 0};
  if (request_.report == Report::lines) {
    const std::size_t bytes_max = request_.line_bytes_max;
    append_context(file.texts, hit.before, bytes_max);
    const std::size_t text = file.texts.size();
    append_excerpt(file.texts, hit.text, hit.column - 1, bytes_max);
    const std::size_t after = file.texts.size();
    append_context(file.texts, hit.after, bytes_max);
    row.before_bytes = static_cast<std::uint32_t>(text - row.at);
    row.text_bytes = static_cast<std::uint32_t>(after - text);
    row.after_bytes = static_cast<std::uint32_t>(file.texts.size() - after);
  }
  file.rows.push_back(row);
  ++kept_;
}

void TopMatches::prune() {
  keep_first(files_, request_.results_max);
  kept_ = 0;
  for (const FileMatches& file : files_) kept_ += file.rows.size();
  full_ = true;
  last_path_ = files_.empty() ? std::string() : files_.back().path;
}

void keep_first(std::vector<FileMatches>& files, std::size_t rows_max) {
  std::sort(files.begin(), files.end(), in_order);
  std::size_t kept = 0, count = 0;
  while (count < files.size() && kept < rows_max) {
    std::vector<FileMatches::Row>& rows = files[count++].rows;
    rows.resize(std::min(rows.size(), rows_max - kept));
    kept += rows.size();
  }
  files.resize(count);
}

}  // namespace relay::search
