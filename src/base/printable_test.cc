#include "base/printable.h"

#include <gtest/gtest.h>

namespace relay {
namespace {

TEST(Printable, KeepsWhatPeopleWrite) {
  for (const char* text : {"", "plain", "two\nlines", "Grüße, 你好, 😀"})
    EXPECT_EQ(printable(text, '?'), text);
}

TEST(Printable, TakesOutWhatATerminalObeys) {
  EXPECT_EQ(printable("\x1b[2J\x07\r\b", '?'), "?[2J???");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m",
                      '?'),
            "?31m");  // a control beyond ASCII
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x80\x8B"
                      "c\xEF\xBB\xBF",
                      ' '),
            "a b c ");  // turned around, no width, a mark of order
  EXPECT_EQ(printable("a\tb", '?'), "a b");
  EXPECT_EQ(printable("\xFFz", '?'), "\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace relay
