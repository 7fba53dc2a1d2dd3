#include "base/media_type.h"

#include <gtest/gtest.h>

namespace relay {
namespace {

TEST(MediaType, ComesFromTheEnding) {
  EXPECT_EQ(media_type_of("/out/plot.png"), "image/png");
  EXPECT_EQ(media_type_of("/out/PLOT.PNG"), "image/png");
  EXPECT_EQ(media_type_of("/out/data.tar.gz"), "application/gzip");
  EXPECT_EQ(media_type_of("/out/png"), "text/plain");
  EXPECT_EQ(media_type_of("/out/.png"), "text/plain");
  EXPECT_EQ(media_type_of("/out.png/notes"), "text/plain");
  EXPECT_EQ(media_type_of(""), "text/plain");
}

TEST(MediaType, TheContentCorrectsAGuessAndNothingElse) {
  EXPECT_EQ(media_type_of("/out/notes", "text"), "text/plain");
  EXPECT_EQ(media_type_of("/out/notes", "\xff\xfe\x00"), "application/octet-stream");
  EXPECT_EQ(media_type_of("/out/plot.png", "\x89PNG"), "image/png");
}

}  // namespace
}  // namespace relay
