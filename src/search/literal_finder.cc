#include "search/literal_finder.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define RELAY_HAS_AVX2_PATH 1
#else
#define RELAY_HAS_AVX2_PATH 0
#endif

namespace relay::search {
namespace {

// Measured over 250 MB of headers and documentation.
constexpr std::uint8_t kRank[256] = {
    0,   1,   2,   3,   4,   5,   6,   7,   8,   194, 245, 9,   136, 141, 10,  11,  12,  13,  14,  15,
    16,  17,  18,  19,  63,  20,  21,  22,  23,  24,  25,  26,  255, 169, 192, 202, 160, 159, 189, 171,
    229, 230, 225, 170, 234, 215, 213, 240, 214, 216, 205, 196, 190, 195, 184, 182, 183, 191, 227, 209,
    210, 207, 212, 158, 167, 224, 204, 221, 203, 233, 199, 198, 185, 226, 165, 181, 218, 201, 220, 231,
    222, 175, 219, 235, 236, 197, 186, 176, 193, 180, 164, 173, 178, 172, 157, 252, 168, 248, 217, 244,
    241, 254, 237, 223, 232, 249, 174, 208, 243, 239, 251, 247, 242, 177, 246, 250, 253, 238, 211, 200,
    206, 228, 179, 188, 166, 187, 161, 27,  155, 98,  144, 114, 94,  106, 90,  111, 100, 118, 64,  85,
    101, 112, 83,  87,  110, 84,  91,  113, 153, 76,  89,  74,  133, 147, 66,  97,  151, 148, 75,  137,
    162, 139, 102, 119, 146, 105, 109, 125, 115, 152, 86,  138, 117, 134, 99,  77,  122, 135, 120, 128,
    130, 123, 150, 67,  131, 59,  121, 116, 132, 145, 126, 143, 28,  29,  163, 154, 127, 140, 71,  30,
    78,  72,  31,  70,  68,  32,  95,  103, 149, 129, 33,  34,  35,  36,  37,  108, 79,  80,  38,  39,
    40,  41,  42,  43,  124, 107, 156, 92,  96,  104, 88,  82,  81,  93,  44,  45,  46,  47,  48,  142,
    69,  49,  50,  65,  62,  51,  60,  52,  53,  54,  61,  55,  56,  73,  57,  58};

bool is_lower_letter(unsigned char c) {
  return c >= 'a' && c <= 'z';
}

}  // namespace

bool has_avx2() {
#if RELAY_HAS_AVX2_PATH
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

std::uint8_t byte_rank(unsigned char byte) {
  return kRank[byte];
}

LiteralFinder::LiteralFinder(std::string_view text, Case letters)
    : needle_(letters == Case::ignored ? to_lower_ascii(text) : std::string(text)),
      case_(letters),
      avx2_(has_avx2()) {
  choose_rare();
}

LiteralFinder::Rare LiteralFinder::rare_at(std::size_t offset) const {
  const auto byte = static_cast<unsigned char>(needle_[offset]);
  const bool folds = case_ == Case::ignored && is_lower_letter(byte);
  return {offset, byte, static_cast<unsigned char>(folds ? 0x20 : 0)};
}

void LiteralFinder::choose_rare() {
  const auto rarer = [&](std::size_t a, std::size_t b) {
    return kRank[static_cast<unsigned char>(needle_[a])] < kRank[static_cast<unsigned char>(needle_[b])];
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < needle_.size(); ++i) best = rarer(i, best) ? i : best;
  std::size_t second = best == 0 && needle_.size() > 1 ? 1 : 0;
  for (std::size_t i = 0; i < needle_.size(); ++i) second = i != best && rarer(i, second) ? i : second;
  first_ = rare_at(best);
  second_ = rare_at(second);
}

bool LiteralFinder::equals_at(const char* place) const {
  if (case_ == Case::sensitive) return std::memcmp(place, needle_.data(), needle_.size()) == 0;
  return equal_ignoring_case({place, needle_.size()}, needle_);
}

std::size_t LiteralFinder::find(std::string_view haystack, std::size_t from) const {
  if (haystack.size() < needle_.size() || from > haystack.size() - needle_.size()) return kNone;
  return avx2_ ? find_avx2(haystack, from) : find_plain(haystack, from);
}

std::size_t LiteralFinder::find_plain(std::string_view haystack, std::size_t from) const {
  const std::size_t last = haystack.size() - needle_.size();
  for (std::size_t at = from; at <= last; ++at) {
    if (first_.fold == 0) {
      const char* start = haystack.data() + at + first_.offset;
      const void* found = std::memchr(start, first_.byte, last - at + 1);
      if (found == nullptr) return kNone;
      at += static_cast<std::size_t>(static_cast<const char*>(found) - start);
    }
    const auto byte = static_cast<unsigned char>(haystack[at + first_.offset]);
    if ((byte | first_.fold) == first_.byte && equals_at(haystack.data() + at)) return at;
  }
  return kNone;
}

#if RELAY_HAS_AVX2_PATH
__attribute__((target("avx2"))) std::size_t LiteralFinder::find_avx2(std::string_view haystack,
                                                                     std::size_t from) const {
  constexpr std::size_t kWide = 32;
  const __m256i byte1 = _mm256_set1_epi8(static_cast<char>(first_.byte));
  const __m256i byte2 = _mm256_set1_epi8(static_cast<char>(second_.byte));
  const __m256i fold1 = _mm256_set1_epi8(static_cast<char>(first_.fold));
  const __m256i fold2 = _mm256_set1_epi8(static_cast<char>(second_.fold));
  const char* data = haystack.data();
  const std::size_t reach = std::max(first_.offset, second_.offset) + kWide;
  const std::size_t last = haystack.size() - needle_.size();
  std::size_t at = from;
  for (; at + reach <= haystack.size(); at += kWide) {
    const auto load = [&](std::size_t offset) __attribute__((target("avx2"))) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + at + offset));
    };
    const __m256i equal1 = _mm256_cmpeq_epi8(_mm256_or_si256(load(first_.offset), fold1), byte1);
    const __m256i equal2 = _mm256_cmpeq_epi8(_mm256_or_si256(load(second_.offset), fold2), byte2);
    auto mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_and_si256(equal1, equal2)));
    for (; mask != 0; mask &= mask - 1) {
      const std::size_t place = at + static_cast<std::size_t>(__builtin_ctz(mask));
      if (place > last) return kNone;
      if (equals_at(data + place)) return place;
    }
  }
  return at <= last ? find_plain(haystack, at) : kNone;
}

namespace {

__attribute__((target("avx2"))) std::size_t count_newlines_avx2(std::string_view text) {
  constexpr std::size_t kWide = 32;
  const __m256i newline = _mm256_set1_epi8('\n');
  std::size_t count = 0, at = 0;
  while (at + kWide <= text.size()) {
    // Each byte lane counts to at most 255 before the lanes are added up.
    __m256i lanes = _mm256_setzero_si256();
    for (int round = 0; round < 255 && at + kWide <= text.size(); ++round, at += kWide) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at));
      lanes = _mm256_sub_epi8(lanes, _mm256_cmpeq_epi8(bytes, newline));
    }
    alignas(32) std::uint64_t sums[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(sums), _mm256_sad_epu8(lanes, _mm256_setzero_si256()));
    count += sums[0] + sums[1] + sums[2] + sums[3];
  }
  return count + static_cast<std::size_t>(
                     std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n'));
}

}  // namespace

std::size_t count_newlines(std::string_view text) {
  if (has_avx2()) return count_newlines_avx2(text);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}
#else
std::size_t LiteralFinder::find_avx2(std::string_view haystack, std::size_t from) const {
  return find_plain(haystack, from);
}
std::size_t count_newlines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}
#endif

}  // namespace relay::search
