// MultiLiteral: where does one of a few fixed texts occur first?
//
// Where the machine has AVX2, one pass looks for all of them: the first bytes of the texts are looked up by
// their two halves in tables of 16, 32 places at once, and a place where some text could begin is compared in
// full ("Teddy", from Hyperscan). Elsewhere each text is looked for by itself, up to the best place so far.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "search/literal_finder.h"

namespace relay::search {

class MultiLiteral {
 public:
  static constexpr std::size_t kNone = LiteralFinder::kNone;
  static constexpr std::size_t kMost = 8;  // texts: each is one bit of a byte

  /// One to kMost texts, none of them empty.
  MultiLiteral(const std::vector<std::string>& texts, Case letters);

  /// The first place at or after from where one of them begins, or kNone.
  [[nodiscard]] std::size_t find(std::string_view haystack, std::size_t from) const;

 private:
  static constexpr std::size_t kLookedAt = 3;  // bytes of each text, or fewer when one is shorter
  struct Halves {
    alignas(32) std::array<std::uint8_t, 32> low{}, high{};  // both 128-bit lanes hold the same table
  };
  void learn(std::size_t position, unsigned char byte, std::uint8_t bit);
  [[nodiscard]] bool begins_at(std::string_view haystack, std::size_t at, std::uint8_t candidates) const;
  [[nodiscard]] std::size_t find_together(std::string_view haystack, std::size_t from) const;
  [[nodiscard]] std::size_t find_one_by_one(std::string_view haystack, std::size_t from) const;

  std::vector<LiteralFinder> finders_;
  std::array<Halves, kLookedAt> tables_;
  std::size_t looked_at_ = kLookedAt;
  bool avx2_;
};

}  // namespace relay::search
