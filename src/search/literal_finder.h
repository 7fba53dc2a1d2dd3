// LiteralFinder: where does a fixed text occur? The inner loop of search.
//
// It looks for the two rarest bytes of the text at their distance, 32 places at once where the machine has
// AVX2, and compares the whole text only where both are. Ignoring case folds ASCII letters only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/glob.h"

namespace relay::search {

class LiteralFinder {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// text must not be empty.
  LiteralFinder(std::string_view text, Case letters);

  /// The first occurrence at or after from, or kNone.
  [[nodiscard]] std::size_t find(std::string_view haystack, std::size_t from) const;
  /// In lower case when case is ignored.
  [[nodiscard]] const std::string& text() const { return needle_; }
  /// Is it there? As many bytes as the text has are looked at.
  [[nodiscard]] bool equals_at(const char* place) const;

 private:
  struct Rare {
    std::size_t offset = 0;  // in the needle
    unsigned char byte = 0;  // after folding
    unsigned char fold = 0;  // 0x20 when both cases count
  };
  Rare rare_at(std::size_t offset) const;
  void choose_rare();
  [[nodiscard]] std::size_t find_avx2(std::string_view haystack, std::size_t from) const;
  [[nodiscard]] std::size_t find_plain(std::string_view haystack, std::size_t from) const;

  std::string needle_;  // lower case when case is ignored
  Case case_;
  Rare first_, second_;
  bool avx2_;
};

bool has_avx2();

/// How common a byte is in source code and documents: 0 is the rarest, 255 the most common.
std::uint8_t byte_rank(unsigned char byte);

/// How many newlines, counted in wide steps.
std::size_t count_newlines(std::string_view text);

}  // namespace relay::search
