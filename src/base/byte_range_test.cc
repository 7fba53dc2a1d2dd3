#include "base/byte_range.h"

#include <gtest/gtest.h>

namespace relay {
namespace {

TEST(ByteRange, OneRangeIsFoundWithinTheContent) {
  const auto one = [](std::uint64_t begin, std::uint64_t end) {
    return std::pair(RangeKind::one, ByteRange{begin, end});
  };
  EXPECT_EQ(parse_byte_range("bytes=0-0", 10), one(0, 1));
  EXPECT_EQ(parse_byte_range("bytes=0-99", 10), one(0, 10));
  EXPECT_EQ(parse_byte_range("bytes=-99", 10), one(0, 10));
  EXPECT_EQ(parse_byte_range(" bytes=9- ", 10), one(9, 10));
  for (const char* odd : {"", "bytes=", "bytes=-", "bytes=a-b", "bytes=1-2,4-5", "items=1-2", "bytes=5-2",
                          "bytes=1", "bytes=1-x", "bytes=99999999999999999999-"})
    EXPECT_EQ(parse_byte_range(odd, 10).first, RangeKind::none) << odd;
  for (const char* past : {"bytes=10-", "bytes=10-20", "bytes=-0"})
    EXPECT_EQ(parse_byte_range(past, 10).first, RangeKind::unsatisfiable) << past;
  EXPECT_EQ(parse_byte_range("bytes=-5", 0).first, RangeKind::unsatisfiable);
}

}  // namespace
}  // namespace relay
