// ValueScanner: finds many fixed texts in a long one, in one pass. Immutable, so threads share it freely.
//
// It is the automaton of Aho and Corasick over a compact trie: 13 bytes for each byte of the texts, and time
// linear in what is scanned, whatever the texts and the scanned bytes are. While no text has begun, a table
// of two-byte beginnings skips ahead.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relay::secrets {

/// A place in a scanned text: [begin, end).
struct FoundRange {
  std::size_t begin;
  std::size_t end;
  bool operator==(const FoundRange&) const = default;
};

class ValueScanner {
 public:
  /// Precondition: each has at least two bytes, and together they have less than 4 GiB.
  explicit ValueScanner(std::vector<std::string> values);

  /// Every occurrence of every value, those that overlap as one range, in the order of the text.
  [[nodiscard]] std::vector<FoundRange> find_all(std::string_view text) const;

 private:
  using State = std::uint32_t;

  void build_trie(const std::vector<std::string>& sorted);
  void link_failures();
  [[nodiscard]] State find_child(State state, std::uint8_t byte) const;
  [[nodiscard]] State next(State state, std::uint8_t byte) const;
  [[nodiscard]] std::size_t find_beginning(std::string_view text, std::size_t from) const;

  // One entry per state, in the order of a breadth-first walk: the children of a state stand in a row, and
  // end where those of the next state begin. State 0 is the root, and no child: it stands for "none".
  std::vector<std::uint8_t> label_;         // the byte that leads here
  std::vector<std::uint32_t> first_child_;  // one more entry than states
  std::vector<State> failure_;              // the longest proper suffix that is a state
  std::vector<std::uint32_t> length_;       // of the longest value that ends here; 0: none does
  std::bitset<65536> beginnings_;           // the first two bytes of each value
};

}  // namespace relay::secrets
