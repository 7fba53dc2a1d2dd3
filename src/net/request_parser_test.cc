#include "net/request_parser.h"

#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

namespace relay::net {
namespace {

constexpr std::array<std::size_t, 6> kReadSizes = {1, 2, 3, 7, 31, std::string::npos};
constexpr std::size_t kHeaderBytes = 8192;

struct Parsed {
  int status = 0;  // of the refusal; 0 when the request was taken
  bool done = false;
  std::string body;
  std::string rest;  // what follows the request
};

// Gives the parser what a connection would: everything that has arrived and was not taken yet.
Parsed parse(std::string_view wire, std::size_t read_bytes) {
  RequestParser parser(kHeaderBytes);
  std::string pending;
  bool body_wanted = false;
  Parsed parsed;
  while (!parser.done() && (!wire.empty() || !pending.empty())) {
    const std::size_t piece = std::min(read_bytes, wire.size());
    pending += wire.substr(0, piece);
    wire.remove_prefix(piece);
    for (std::size_t before = std::string::npos; pending.size() != before && !parser.done();) {
      before = pending.size();
      const auto used = parser.feed(pending);
      if (!used) {
        parsed.status = used.error().status;
        return parsed;
      }
      pending.erase(0, *used);
      if (parser.head_done() && !body_wanted) {
        body_wanted = true;
        parser.keep_body(1 << 20);
      }
    }
    if (wire.empty() && !parser.done()) break;
  }
  parsed.done = parser.done();
  parsed.body = parser.take_body();
  parsed.rest = pending + std::string(wire);
  return parsed;
}

class RequestFraming : public testing::TestWithParam<std::size_t> {
 protected:
  static int refused(std::string_view fields, std::string_view body = "") {
    const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
    return parse(head + std::string(body), GetParam()).status;
  }
};

TEST_P(RequestFraming, AnAnnouncedLengthAndChunksAreTaken) {
  const Parsed plain = parse("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET", GetParam());
  EXPECT_EQ(plain.status, 0);
  EXPECT_EQ(plain.body, "hello");
  EXPECT_EQ(plain.rest, "GET");
  const Parsed chunked =
      parse("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET",
            GetParam());
  EXPECT_EQ(chunked.status, 0);
  EXPECT_TRUE(chunked.done);
  EXPECT_EQ(chunked.body, "hello");
}

// A proxy that does not know folding sees no Transfer-Encoding here, and another end of the body.
TEST_P(RequestFraming, AFoldedFieldIsRefused) {
  EXPECT_EQ(refused("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), 400);
  EXPECT_EQ(refused("Transfer-Encoding:\r\n\tchunked\r\n", "0\r\n\r\n"), 400);
  EXPECT_EQ(refused("Transfer-Encoding: chunked\r\n \r\n", "0\r\n\r\n"), 400);
  EXPECT_EQ(refused("X-Note: a\r\n Transfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(refused("Content-Length:\r\n 0\r\n"), 400);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\n X: y\r\nHost: h\r\n\r\n", GetParam()).status, 400);
}

TEST_P(RequestFraming, AFoldInTheBodyIsContent) {
  const Parsed parsed = parse("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n\r\n x", GetParam());
  EXPECT_EQ(parsed.status, 0);
  EXPECT_EQ(parsed.body, "\r\n x");
}

TEST_P(RequestFraming, TwoContentLengthsAreRefusedEvenWhenTheyAgree) {
  EXPECT_EQ(refused("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400);
  EXPECT_EQ(refused("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"), 400);
  EXPECT_EQ(refused("Content-Length: 5\r\nX: y\r\ncontent-length: 0\r\n", "hello"), 400);
  EXPECT_EQ(refused("Content-Length: 5, 5\r\n", "hello"), 400);
}

TEST_P(RequestFraming, AContentLengthIsAPlainNumber) {
  for (const char* value : {"+5", "-5", "0x5", "5 5", "5;", "five", "", "\"5\"", "5.0"})
    EXPECT_EQ(refused("Content-Length: " + std::string(value) + "\r\n", "hello"), 400) << value;
}

TEST_P(RequestFraming, ALengthAndACodingTogetherAreRefused) {
  EXPECT_EQ(refused("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400);
  EXPECT_EQ(refused("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400);
  EXPECT_EQ(refused("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", "0\r\n\r\n"), 400);
}

TEST_P(RequestFraming, TwoCodingsOrAnUnknownOneAreRefused) {
  EXPECT_EQ(refused("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400);
  EXPECT_EQ(refused("Transfer-Encoding: gzip\r\n"), 501);
  EXPECT_EQ(refused("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"), 501);
  EXPECT_EQ(refused("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501);
  EXPECT_EQ(refused("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), 400);
}

TEST_P(RequestFraming, TheNextRequestStartsAfresh) {
  RequestParser parser(kHeaderBytes);
  EXPECT_FALSE(parser.feed("GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"));
  parser.reset();
  const std::string_view second = "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n";
  for (std::string_view left = second; !left.empty() && !parser.done();) {
    const auto used = parser.feed(left);
    ASSERT_TRUE(used) << used.error().reason;
    left.remove_prefix(*used);
  }
  EXPECT_TRUE(parser.done());
}

INSTANTIATE_TEST_SUITE_P(ReadSizes, RequestFraming, testing::ValuesIn(kReadSizes));

}  // namespace
}  // namespace relay::net
