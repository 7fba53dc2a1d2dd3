#include "pipeline/results_store.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::pipeline {
namespace {

std::optional<std::size_t> find_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::size_t>* slot_of(RangeRequest& request, std::string_view key) {
  if (key == "offset") return &request.offset;
  if (key == "length") return &request.length;
  if (key == "line") return &request.line;
  if (key == "lines") return &request.lines;
  return nullptr;
}

// The boundary at or before `at`.
std::size_t align(std::string_view text, std::size_t at) {
  return utf8_prefix(text, std::min(at, text.size())).size();
}

std::size_t line_begin(std::string_view text, std::size_t from, std::size_t count) {
  for (; count > 0 && from < text.size(); --count) {
    const std::size_t newline = text.find('\n', from);
    from = newline == std::string_view::npos ? text.size() : newline + 1;
  }
  return from;
}

Slice cut(std::string_view text, std::size_t begin, std::size_t length) {
  begin = align(text, begin);
  std::string_view piece = utf8_prefix(text.substr(begin), length);
  // A length shorter than the next character would never get anywhere.
  if (piece.empty() && length > 0) piece = utf8_prefix(text.substr(begin), 4);
  return {std::string(piece), begin, text.size()};
}

}  // namespace

Result<RangeRequest> parse_results_uri(std::string_view uri) {
  if (!uri.starts_with(kResultsPrefix))
    return fail(not_found(fmt::format("not a kept result: {}", uri.substr(0, 200))));
  uri.remove_prefix(kResultsPrefix.size());
  const std::size_t question = uri.find('?');
  RangeRequest request{.id = std::string(uri.substr(0, question))};
  std::string_view query = question == std::string_view::npos ? std::string_view() : uri.substr(question + 1);
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    auto* slot = slot_of(request, part.substr(0, equals));
    const auto number =
        equals == std::string_view::npos ? std::nullopt : find_number(part.substr(equals + 1));
    if (!slot || !number)
      return fail(invalid("a kept result is read with ?offset=N&length=N (bytes) or ?line=N&lines=N"));
    *slot = number;
  }
  const bool by_bytes = request.offset || request.length;
  const bool by_lines = request.line || request.lines;
  if (by_bytes && by_lines) return fail(invalid("give either bytes (offset, length) or lines (line, lines)"));
  return request;
}

std::string ResultsStore::keep(std::string_view principal, std::string text) {
  sweep();
  if (text.size() > limits::kKeptResultBytes) text.resize(utf8_prefix(text, limits::kKeptResultBytes).size());
  while (!entries_.empty() &&
         (entries_.size() >= limits::kKeptResults || bytes_ + text.size() > limits::kKeptBytes))
    drop_oldest();
  bytes_ += text.size();
  entries_.push_back(
      {ids_.make("", 16), std::string(principal), std::move(text), clock_.mono() + limits::kResultKept});
  by_id_.insert_or_assign(entries_.back().id, std::prev(entries_.end()));
  return std::string(kResultsPrefix) + entries_.back().id;
}

Result<Slice> ResultsStore::read(std::string_view principal, std::string_view uri) {
  RELAY_TRY(const RangeRequest request, parse_results_uri(uri));
  return read(principal, request);
}

Result<Slice> ResultsStore::read(std::string_view principal, const RangeRequest& request,
                                 std::size_t bytes_max) {
  sweep();
  const auto found = by_id_.find(request.id);
  // Somebody else's result and one that is gone look the same.
  if (found == by_id_.end() || found->second->principal != principal)
    return fail(not_found("this result is no longer kept; make the call again"));
  const std::string_view text = found->second->text;
  if (!request.line && !request.lines)
    return cut(text, request.offset.value_or(0), std::min(request.length.value_or(bytes_max), bytes_max));
  const std::size_t begin =
      line_begin(text, 0, request.line.value_or(1) == 0 ? 0 : request.line.value_or(1) - 1);
  const std::size_t end = request.lines ? line_begin(text, begin, *request.lines) : text.size();
  return cut(text, begin, std::min(end - begin, bytes_max));
}

std::string ResultsStore::how_to_read(std::string_view places) const {
  return read_tool_.empty() ? fmt::format("read resource {}", places)
                            : fmt::format("call {} with path {}", read_tool_, places);
}

std::int64_t ResultsStore::kept_minutes() {
  return std::chrono::duration_cast<std::chrono::minutes>(limits::kResultKept).count();
}

void ResultsStore::sweep() {
  while (!entries_.empty() && entries_.front().expires <= clock_.mono()) drop_oldest();
}

void ResultsStore::drop_oldest() {
  bytes_ -= entries_.front().text.size();
  by_id_.erase(entries_.front().id);
  entries_.pop_front();
}

}  // namespace relay::pipeline
