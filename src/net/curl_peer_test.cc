// The curl program as a real peer of the server, over TCP and over TLS.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/server_fixture.h"
#include "net/test_certificate.h"

namespace relay::net {
namespace {

using testing::HasSubstr;

io::Task<void> echo_body(HttpExchange& exchange) {
  RELAY_CO_TRY(std::string body, co_await exchange.read_body());
  const std::string secure = exchange.request().secure ? " secure" : "";
  if (exchange.request().path == "/stream") {
    Headers headers;
    RELAY_CO_TRY(auto stream, co_await exchange.start_stream(200, std::move(headers)));
    for (int i = 0; i < 100; ++i) RELAY_CO_CHECK(co_await stream->write(std::string(10'000, 's')));
    co_return co_await stream->finish();
  }
  HttpResponse response =
      text_response(200, exchange.request().method + secure + " " + std::to_string(body.size()) + "\n");
  co_return co_await exchange.respond(std::move(response));
}

std::string run(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> bytes{};
  while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), pipe))
    output.append(bytes.data(), got);
  ::pclose(pipe);
  return output;
}

class CurlPeer : public testing::TestWithParam<bool> {
 protected:
  CurlPeer()
      : server_(echo_body, options()),
        upload_(testing::TempDir() + "relay_upload_" + std::to_string(server_.port())) {
    std::ofstream(upload_) << std::string(3'000'000, 'u');
  }
  ~CurlPeer() override { std::filesystem::remove(upload_); }

  HttpServerOptions options() {
    HttpServerOptions options;
    if (GetParam()) options.tls = ServerTls{certificate_.certificate_path(), certificate_.key_path()};
    return options;
  }
  std::string curl(const std::string& arguments, const std::string& path = "/") {
    const std::string scheme = GetParam() ? "https" : "http";
    return run("curl -sS --noproxy '*' --max-time 30 --cacert " + certificate_.certificate_path() + " " +
               arguments + " " + scheme + "://localhost:" + std::to_string(server_.port()) + path);
  }
  [[nodiscard]] std::string said(const std::string& method, std::size_t bytes) const {
    return method + (GetParam() ? " secure " : " ") + std::to_string(bytes) + "\n";
  }

  TestCertificate certificate_;
  TestServer server_;
  std::string upload_;
};
INSTANTIATE_TEST_SUITE_P(Transport, CurlPeer, testing::Values(false, true),
                         [](const auto& transport) { return transport.param ? "Tls" : "Tcp"; });

TEST_P(CurlPeer, Gets) {
  EXPECT_EQ(curl(""), said("GET", 0));
}
TEST_P(CurlPeer, PostsWithLength) {
  EXPECT_EQ(curl("--data-binary @" + upload_), said("POST", 3'000'000));
}
TEST_P(CurlPeer, PostsChunkedAndExpecting) {
  EXPECT_EQ(curl("-H 'Transfer-Encoding: chunked' -H 'Expect: 100-continue' --data-binary @" + upload_),
            said("POST", 3'000'000));
}
TEST_P(CurlPeer, AsksForTheHead) {
  const std::string head = curl("-I");
  EXPECT_THAT(head, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(head, HasSubstr("Content-Length: " + std::to_string(said("HEAD", 0).size())));
}
TEST_P(CurlPeer, SpeaksTheOldVersion) {
  EXPECT_EQ(curl("--http1.0"), said("GET", 0));
  EXPECT_EQ(curl("--http1.0", "/stream").size(), 1'000'000u);
}
TEST_P(CurlPeer, ReadsAStream) {
  EXPECT_EQ(curl("", "/stream").size(), 1'000'000u);
}
TEST_P(CurlPeer, UsesOneConnectionForSeveralRequests) {
  const std::string base =
      (GetParam() ? "https" : "http") + std::string("://localhost:") + std::to_string(server_.port());
  EXPECT_EQ(curl("-w '%{num_connects} ' " + base + "/a " + base + "/b"),
            said("GET", 0) + "1 " + said("GET", 0) + "0 " + said("GET", 0) + "0 ");
}

}  // namespace
}  // namespace relay::net
