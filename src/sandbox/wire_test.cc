#include "sandbox/wire.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace relay::sandbox {
namespace {

constexpr std::size_t kReadSizes[] = {1, 2, 3, 7, 31, 1 << 20};

struct Owned {
  FrameKind kind;
  std::string header;
  std::string body;
  bool operator==(const Owned&) const = default;
};

// Feeds the bytes in pieces of one size; gives the frames, or the error.
Result<std::vector<Owned>> read_in_pieces(std::string_view bytes, std::size_t piece,
                                          FrameSource source = FrameSource::child,
                                          std::size_t max_bytes = 1000) {
  FrameReader reader(source, max_bytes);
  std::vector<Owned> frames;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    for (;;) {
      RELAY_TRY(const std::optional<FrameView> frame, reader.next());
      if (!frame) break;
      frames.push_back({frame->kind, std::string(frame->header), std::string(frame->body)});
    }
  }
  return frames;
}

TEST(Wire, FramesSurviveEverySplit) {
  const std::vector<Owned> sent = {
      {FrameKind::ready, "{}", ""},
      {FrameKind::output, R"({"stream":"stdout"})", std::string(600, 'x') + std::string("\0\xff", 2)},
      {FrameKind::call, "", ""},
      {FrameKind::done, R"({"exitCode":0})", "body"}};
  std::string bytes;
  for (const Owned& frame : sent) bytes += make_frame(frame.kind, frame.header, frame.body);
  for (const std::size_t piece : kReadSizes) {
    const auto frames = read_in_pieces(bytes, piece);
    ASSERT_TRUE(frames) << frames.error().message;
    EXPECT_EQ(*frames, sent) << "in pieces of " << piece;
  }
}

TEST(Wire, TheBytesAreThoseOfTheFormat) {
  EXPECT_EQ(make_frame(FrameKind::output, "ab", "c"), std::string("\x08\0\0\0\x11\x02\0\0\0abc", 12));
}

struct Broken {
  const char* name;
  std::string bytes;
};

TEST(Wire, BrokenFramesAreErrorsAtEverySplit) {
  const Broken all[] = {
      {"announces 4 GiB", std::string("\xff\xff\xff\xff", 4)},
      {"announces one byte too much", std::string("\xe9\x03\0\0", 4)},
      {"is empty", std::string("\0\0\0\0", 4)},
      {"has no room for its own prefix", std::string("\4\0\0\0", 4)},
      {"has kind 0", std::string("\5\0\0\0\0\0\0\0\0", 9)},
      {"has kind 22", std::string("\5\0\0\0\x16\0\0\0\0", 9)},
      {"is relay's own kind", make_frame(FrameKind::start, "{}")},
      {"has a header one byte too long", std::string("\5\0\0\0\x11\1\0\0\0", 9)},
      {"has a header of 4 GiB", std::string("\6\0\0\0\x11\xff\xff\xff\xff-", 10)},
  };
  for (const Broken& broken : all)
    for (const std::size_t piece : kReadSizes) {
      EXPECT_FALSE(read_in_pieces(broken.bytes, piece))
          << "a frame that " << broken.name << ", in pieces of " << piece;
      EXPECT_FALSE(read_in_pieces(make_frame(FrameKind::ready, "{}") + broken.bytes, piece))
          << broken.name << " after a good one";
    }
}

TEST(Wire, AnOversizedFrameIsRefusedBeforeItsBytesCome) {
  FrameReader reader(FrameSource::child, 100);
  reader.feed(std::string("\x65\0\0\0", 4));
  EXPECT_EQ(reader.next().error().kind, ErrorKind::too_large);
}

TEST(Wire, TheLargestFrameIsAllowed) {
  const std::string frame = make_frame(FrameKind::output, "{}", std::string(1000 - 5 - 2, 'x'));
  EXPECT_TRUE(read_in_pieces(frame, 31));
  EXPECT_FALSE(read_in_pieces(make_frame(FrameKind::output, "{}", std::string(1000 - 5 - 1, 'x')), 31));
}

TEST(Wire, EachSideHasItsKinds) {
  EXPECT_EQ(find_frame_kind(1, FrameSource::relay), FrameKind::start);
  EXPECT_EQ(find_frame_kind(1, FrameSource::child), std::nullopt);
  EXPECT_EQ(find_frame_kind(20, FrameSource::child), FrameKind::done);
  EXPECT_EQ(find_frame_kind(20, FrameSource::relay), std::nullopt);
  EXPECT_EQ(find_frame_kind(21, FrameSource::child), FrameKind::pace);
  EXPECT_EQ(find_frame_kind(22, FrameSource::child), std::nullopt);
  EXPECT_EQ(find_frame_kind(255, FrameSource::child), std::nullopt);
}

TEST(Wire, MissingBytesNeverReachPastTheFrame) {
  const std::string frame = make_frame(FrameKind::output, "{}", "0123456789");
  FrameReader reader(FrameSource::child, 1000);
  for (std::size_t at = 0; at < frame.size(); ++at) {
    EXPECT_LE(reader.missing_bytes(), frame.size() - at) << at;
    EXPECT_GE(reader.missing_bytes(), 1U);
    reader.feed(frame.substr(at, 1));
  }
  EXPECT_TRUE(*reader.next());
}

}  // namespace
}  // namespace relay::sandbox
