#include "secrets/value_scanner.h"

#include <algorithm>

namespace relay::secrets {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

std::size_t pair_at(std::string_view text, std::size_t at) {
  return std::size_t{byte_at(text, at)} << 8U | byte_at(text, at + 1);
}

// Ends grow from call to call, so only the last ranges can touch the new one.
void merge(std::vector<FoundRange>& ranges, FoundRange found) {
  while (!ranges.empty() && found.begin < ranges.back().end) {
    found.begin = std::min(found.begin, ranges.back().begin);
    ranges.pop_back();
  }
  ranges.push_back(found);
}

}  // namespace

ValueScanner::ValueScanner(std::vector<std::string> values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  for (const std::string& value : values) beginnings_.set(pair_at(value, 0));
  build_trie(values);
  link_failures();
}

// A state is a run of sorted values with a common beginning. The runs of a state's children follow each
// other.
void ValueScanner::build_trie(const std::vector<std::string>& sorted) {
  struct Run {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t depth;
  };
  std::vector<Run> runs = {{0, static_cast<std::uint32_t>(sorted.size()), 0}};
  label_.push_back(0);
  for (std::size_t state = 0; state < runs.size(); ++state) {
    Run run = runs[state];
    first_child_.push_back(static_cast<std::uint32_t>(runs.size()));
    const bool is_value = run.begin < run.end && sorted[run.begin].size() == run.depth;
    length_.push_back(is_value ? run.depth : 0);
    if (is_value) ++run.begin;
    while (run.begin < run.end) {
      const std::uint8_t byte = byte_at(sorted[run.begin], run.depth);
      std::uint32_t end = run.begin + 1;
      while (end < run.end && byte_at(sorted[end], run.depth) == byte) ++end;
      runs.push_back({run.begin, end, run.depth + 1});
      label_.push_back(byte);
      run.begin = end;
    }
  }
  first_child_.push_back(static_cast<std::uint32_t>(runs.size()));
}

// Breadth-first, so that the suffix of a state, which is shorter, is linked before it.
void ValueScanner::link_failures() {
  failure_.assign(label_.size(), 0);
  for (State parent = 0; parent < label_.size(); ++parent)
    for (State child = first_child_[parent]; child < first_child_[parent + 1]; ++child) {
      if (parent != 0) failure_[child] = next(failure_[parent], label_[child]);
      if (length_[child] == 0) length_[child] = length_[failure_[child]];
    }
}

ValueScanner::State ValueScanner::find_child(State state, std::uint8_t byte) const {
  const auto begin = label_.begin() + first_child_[state];
  const auto end = label_.begin() + first_child_[state + 1];
  const auto found = std::lower_bound(begin, end, byte);
  return found != end && *found == byte ? static_cast<State>(found - label_.begin()) : 0;
}

ValueScanner::State ValueScanner::next(State state, std::uint8_t byte) const {
  for (;;) {
    if (const State child = find_child(state, byte); child != 0) return child;
    if (state == 0) return 0;
    state = failure_[state];
  }
}

std::size_t ValueScanner::find_beginning(std::string_view text, std::size_t from) const {
  while (from + 1 < text.size() && !beginnings_[pair_at(text, from)]) ++from;
  return from;
}

std::vector<FoundRange> ValueScanner::find_all(std::string_view text) const {
  std::vector<FoundRange> ranges;
  State state = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (state == 0) at = find_beginning(text, at);
    state = next(state, byte_at(text, at));
    if (length_[state] > 0) merge(ranges, {at + 1 - length_[state], at + 1});
  }
  return ranges;
}

}  // namespace relay::secrets
