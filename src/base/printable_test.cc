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

TEST(Printable, WhatAModelReadsHasNothingThatCannotBeSeen) {
  EXPECT_EQ(visible_text("a\x1b[2J\u202Eb\u200B\u00ADc\U000E0041\U000E0101\uFE0F\u3164d"), "a[2Jbcd");
  EXPECT_EQ(visible_text(std::string_view("a\0b\n\tc", 6)), "ab\n\tc");
  EXPECT_FALSE(has_invisible("Grüße, 日本語 and 🙂\n"));
  EXPECT_TRUE(has_invisible("\xff"));
}

}  // namespace
}  // namespace relay
