#include "search/multi_literal.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace relay::search {

MultiLiteral::MultiLiteral(const std::vector<std::string>& texts, Case letters) : avx2_(has_avx2()) {
  for (const std::string& text : texts) {
    looked_at_ = std::min(looked_at_, text.size());
    finders_.emplace_back(text, letters);
  }
  for (std::size_t i = 0; i < finders_.size(); ++i) {
    for (std::size_t at = 0; at < looked_at_; ++at) {
      const auto byte = static_cast<unsigned char>(finders_[i].text()[at]);
      const auto bit = static_cast<std::uint8_t>(1U << i);
      learn(at, byte, bit);
      if (letters == Case::ignored && byte >= 'a' && byte <= 'z') learn(at, byte - 0x20, bit);
    }
  }
}

void MultiLiteral::learn(std::size_t position, unsigned char byte, std::uint8_t bit) {
  for (const std::size_t lane : {0, 16}) {
    tables_[position].low[lane + (byte & 15)] |= bit;
    tables_[position].high[lane + (byte >> 4)] |= bit;
  }
}

std::size_t MultiLiteral::find(std::string_view haystack, std::size_t from) const {
  if (from >= haystack.size()) return kNone;
  if (finders_.size() == 1) return finders_.front().find(haystack, from);
  return avx2_ ? find_together(haystack, from) : find_one_by_one(haystack, from);
}

std::size_t MultiLiteral::find_one_by_one(std::string_view haystack, std::size_t from) const {
  std::size_t best = kNone;
  for (const LiteralFinder& finder : finders_) {
    const std::size_t reach =
        best == kNone ? haystack.size() : std::min(haystack.size(), best - 1 + finder.text().size());
    best = std::min(best, finder.find(haystack.substr(0, reach), from));
  }
  return best;
}

bool MultiLiteral::begins_at(std::string_view haystack, std::size_t at, std::uint8_t candidates) const {
  for (std::size_t i = 0; i < finders_.size(); ++i) {
    const bool possible = (candidates >> i & 1) != 0 && haystack.size() - at >= finders_[i].text().size();
    if (possible && finders_[i].equals_at(haystack.data() + at)) return true;
  }
  return false;
}

#if defined(__x86_64__)
namespace {

__attribute__((target("avx2"))) inline __m256i look_up(__m256i bytes, __m256i low_table, __m256i high_table) {
  const __m256i half = _mm256_set1_epi8(15);
  const __m256i low = _mm256_shuffle_epi8(low_table, _mm256_and_si256(bytes, half));
  const __m256i high = _mm256_shuffle_epi8(high_table, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
  return _mm256_and_si256(low, high);
}

}  // namespace

__attribute__((target("avx2"))) std::size_t MultiLiteral::find_together(std::string_view haystack,
                                                                        std::size_t from) const {
  constexpr std::size_t kWide = 32;
  const auto load = [](const void* from_where) __attribute__((target("avx2"))) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from_where));
  };
  std::array<__m256i, kLookedAt> low, high;
  for (std::size_t i = 0; i < kLookedAt; ++i) {
    low[i] = load(tables_[i].low.data());
    high[i] = load(tables_[i].high.data());
  }
  std::size_t at = from;
  for (; at + kWide + kLookedAt <= haystack.size(); at += kWide) {
    const char* place = haystack.data() + at;
    __m256i found = look_up(load(place), low[0], high[0]);
    if (looked_at_ > 1) found = _mm256_and_si256(found, look_up(load(place + 1), low[1], high[1]));
    if (looked_at_ > 2) found = _mm256_and_si256(found, look_up(load(place + 2), low[2], high[2]));
    auto mask =
        ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())));
    if (mask == 0) continue;
    alignas(32) std::array<std::uint8_t, kWide> candidates;
    _mm256_store_si256(reinterpret_cast<__m256i*>(candidates.data()), found);
    for (; mask != 0; mask &= mask - 1) {
      const auto lane = static_cast<std::size_t>(__builtin_ctz(mask));
      if (begins_at(haystack, at + lane, candidates[lane])) return at + lane;
    }
  }
  for (; at < haystack.size(); ++at) {
    if (begins_at(haystack, at, 0xFF)) return at;
  }
  return kNone;
}
#else
std::size_t MultiLiteral::find_together(std::string_view haystack, std::size_t from) const {
  return find_one_by_one(haystack, from);
}
#endif

}  // namespace relay::search
