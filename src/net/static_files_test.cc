#include "net/static_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/server_fixture.h"

namespace relay::net {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

HttpRequest request_with(Headers headers) {
  return {.method = "GET", .target = "/", .path = "/", .query = {}, .headers = std::move(headers)};
}

struct RangeCase {
  std::string_view field;
  int status;
  std::string_view body;
};

TEST(StaticFiles, ServesRanges) {
  const RangeCase cases[] = {
      {"bytes=0-3", 206, "0123"},
      {"bytes=4-", 206, "456789"},
      {"bytes=-3", 206, "789"},
      {"bytes=8-100", 206, "89"},
      {"bytes=-100", 206, "0123456789"},
      {"bytes=9-9", 206, "9"},
      {"bytes=10-", 416, ""},
      {"bytes=10-20", 416, ""},
      {"bytes=-0", 416, ""},
      {"bytes=5-3", 200, "0123456789"},
      {"bytes=a-b", 200, "0123456789"},
      {"bytes=0-1,4-5", 200, "0123456789"},
      {"lines=0-1", 200, "0123456789"},
      {"bytes=-", 200, "0123456789"},
      {"bytes=1-x", 200, "0123456789"},
      {"bytes=x-1", 200, "0123456789"},
      {"bytes=99999999999999999999-", 200, "0123456789"},
      {"bytes=0-18446744073709551615", 206, "0123456789"},
  };
  for (const RangeCase& c : cases) {
    const HttpResponse response =
        serve_bytes(request_with({{"Range", std::string(c.field)}}), "0123456789", {.etag = "\"e\""});
    EXPECT_EQ(response.status, c.status) << c.field;
    EXPECT_EQ(response.body, c.body) << c.field;
  }
}

TEST(StaticFiles, NamesTheRange) {
  const auto range = [](std::string field) {
    return std::string(*serve_bytes(request_with({{"Range", std::move(field)}}), "0123456789", {})
                            .headers.find("Content-Range"));
  };
  EXPECT_EQ(range("bytes=2-4"), "bytes 2-4/10");
  EXPECT_EQ(range("bytes=20-"), "bytes */10");
}

TEST(StaticFiles, SaysNotModified) {
  const ContentFacts facts{.etag = etag_of("text")};
  for (const std::string& tag : {facts.etag, "W/" + facts.etag, "\"x\", " + facts.etag, std::string("*")}) {
    const HttpResponse response = serve_bytes(request_with({{"If-None-Match", tag}}), "text", facts);
    EXPECT_EQ(response.status, 304) << tag;
    EXPECT_EQ(response.body, "");
  }
  EXPECT_EQ(serve_bytes(request_with({{"If-None-Match", "\"other\""}}), "text", facts).status, 200);
  EXPECT_NE(etag_of("a"), etag_of("b"));
}

TEST(StaticFiles, IgnoresARangeOfAnotherVersion) {
  const ContentFacts facts{.etag = "\"e\""};
  EXPECT_EQ(
      serve_bytes(request_with({{"Range", "bytes=0-0"}, {"If-Range", "\"old\""}}), "text", facts).status,
      200);
  EXPECT_EQ(serve_bytes(request_with({{"Range", "bytes=0-0"}, {"If-Range", "\"e\""}}), "text", facts).status,
            206);
}

TEST(StaticFiles, KnowsTypes) {
  EXPECT_EQ(content_type_of("a/b.WASM"), "application/wasm");
  EXPECT_EQ(content_type_of("index.html"), "text/html; charset=utf-8");
  EXPECT_EQ(content_type_of("x.mjs"), "text/javascript; charset=utf-8");
  EXPECT_EQ(content_type_of("noextension"), "application/octet-stream");
}

class StaticDirectoryTest : public testing::Test {
 protected:
  StaticDirectoryTest() : root_(testing::TempDir() + "relay_static_XXXXXX"), pool_(1) {
    EXPECT_NE(::mkdtemp(root_.data()), nullptr);
    std::filesystem::create_directories(root_ + "/www/sub");
    std::ofstream(root_ + "/secret.txt") << "secret";
    std::ofstream(root_ + "/www/a.txt") << "hello";
    std::ofstream(root_ + "/www/empty.txt");
    std::ofstream(root_ + "/www/.hidden") << "hidden";
    std::ofstream(root_ + "/www/big.bin") << std::string(1'000'000, 'b');
    std::filesystem::create_symlink("../secret.txt", root_ + "/www/out.txt");
    std::filesystem::create_symlink(root_ + "/secret.txt", root_ + "/www/absolute.txt");
    std::filesystem::create_symlink("../a.txt", root_ + "/www/sub/in.txt");
    ::mkfifo((root_ + "/www/fifo").c_str(), 0600);
    directory_ = std::make_unique<StaticDirectory>(*StaticDirectory::open(root_ + "/www", pool_));
    server_ = std::make_unique<TestServer>([this](HttpExchange& exchange) {
      return directory_->serve(exchange, exchange.request().path.substr(1));
    });
  }
  ~StaticDirectoryTest() override {
    server_.reset();
    std::filesystem::remove_all(root_);
  }
  std::string ask(const std::string& line, const std::string& fields = "") {
    RawClient client(server_->port());
    client.send(line + " HTTP/1.1\r\nHost: x\r\n" + fields + "Connection: close\r\n\r\n");
    return client.read_all();
  }

  std::string root_;
  io::ThreadPool pool_;
  std::unique_ptr<StaticDirectory> directory_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(StaticDirectoryTest, ServesFiles) {
  const std::string response = ask("GET /a.txt");
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(response, HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(response, EndsWith("Content-Length: 5\r\nConnection: close\r\n\r\nhello"));
  EXPECT_THAT(ask("GET /sub/in.txt"), EndsWith("hello"));
  EXPECT_THAT(ask("GET /empty.txt"), HasSubstr("Content-Length: 0\r\n"));
  EXPECT_THAT(ask("HEAD /big.bin"), HasSubstr("Content-Length: 1000000\r\n"));
  EXPECT_THAT(ask("GET /a.txt", "Range: bytes=1-2\r\n"), EndsWith("\r\n\r\nel"));
  EXPECT_THAT(ask("GET /big.bin"), EndsWith("\r\n\r\n" + std::string(1'000'000, 'b')));
}

TEST_F(StaticDirectoryTest, AnswersItsOwnETagWithNotModified) {
  const std::string response = ask("GET /a.txt");
  const std::size_t at = response.find("ETag: ") + 6;
  const std::string etag = response.substr(at, response.find("\r\n", at) - at);
  EXPECT_THAT(ask("GET /a.txt", "If-None-Match: " + etag + "\r\n"), StartsWith("HTTP/1.1 304 "));
  std::ofstream(root_ + "/www/a.txt") << "changed";
  EXPECT_THAT(ask("GET /a.txt", "If-None-Match: " + etag + "\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(StaticDirectoryTest, NeverLeavesItsRoot) {
  for (const char* path :
       {"/../secret.txt", "/sub/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/out.txt",
        "/absolute.txt", "//etc/passwd", "/.hidden", "/sub", "/sub/", "/", "/missing", "/fifo", "/a.txt/x"})
    EXPECT_THAT(ask("GET " + std::string(path)), StartsWith("HTTP/1.1 404 ")) << path;
}

}  // namespace
}  // namespace relay::net
