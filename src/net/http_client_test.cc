#include "net/http_client.h"

#include <zlib.h>

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/server_fixture.h"
#include "net/sse_reader.h"
#include "net/test_certificate.h"

namespace relay::net {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

HttpResponse redirect_to(int status, std::string location) {
  HttpResponse response{.status = status, .headers = {}, .body = {}};
  response.headers.add("Location", std::move(location));
  return response;
}

// The other side of every test here, one path a behaviour.
io::Task<void> peer(HttpExchange& exchange) {
  const HttpRequest& request = exchange.request();
  HttpResponse response = text_response(200, "hello");
  if (request.path == "/echo") {
    RELAY_CO_TRY(std::string body, co_await exchange.read_body());
    response.body = request.method + "|" + std::string(request.headers.find("X-Test").value_or("-")) + "|" +
                    std::string(request.headers.find("Authorization").value_or("-")) + "|" +
                    std::string(request.headers.find("Content-Type").value_or("-")) + "|" + body;
  } else if (request.path == "/redirect") {
    response = redirect_to(std::stoi(*find_query(request.query, "status")), *find_query(request.query, "to"));
  } else if (request.path == "/loop") {
    response = redirect_to(302, "/loop");
  } else if (request.path == "/bomb") {
    response.body = gzip(std::string(32 * limits::kMiB, 'a'));
    response.headers.add("Content-Encoding", "gzip");
  } else if (request.path == "/large-head") {
    response.headers.add("X-Large", std::string(100'000, 'h'));
  } else if (request.path == "/silent") {
    co_return co_await exchange.peer_gone().wait();
  } else if (request.path == "/big") {
    Headers headers;
    RELAY_CO_TRY(auto body, co_await exchange.start_stream(200, std::move(headers)));
    const std::string piece(64 * limits::kKiB, 'b');
    for (int i = 0; i < 64; ++i) RELAY_CO_CHECK(co_await body->write(piece));
    co_return co_await body->finish();
  } else if (request.path == "/cut") {
    Headers headers;
    RELAY_CO_TRY(auto body, co_await exchange.start_stream(200, std::move(headers)));
    co_return co_await body->write("half");
  } else if (request.path == "/events") {
    Headers headers{{"Content-Type", "text/event-stream"}};
    RELAY_CO_TRY(auto body, co_await exchange.start_stream(200, std::move(headers)));
    const int from = std::stoi(std::string(request.headers.find("Last-Event-ID").value_or("0")));
    for (int id = from + 1; id <= from + 2; ++id) {
      const std::string event = format_sse({.data = "event " + std::to_string(id), .id = std::to_string(id)});
      RELAY_CO_CHECK(co_await body->write(event));
    }
    co_return co_await body->finish();
  }
  co_return co_await exchange.respond(std::move(response));
}

class HttpClientTest : public testing::Test {
 protected:
  HttpClientTest()
      : server_(peer),
        client_(server_.loop().call([&] { return HttpClient::make(server_.loop().executor()); })) {}
  ~HttpClientTest() override {
    server_.loop().call([&] { client_.reset(); });
  }

  std::string url(std::string_view path) {
    return "http://127.0.0.1:" + std::to_string(server_.port()) + std::string(path);
  }
  Result<HttpResponse> fetch(ClientRequest request) {
    return server_.loop().run(client_->fetch(std::move(request)));
  }
  Result<HttpResponse> fetch(std::string_view path) { return fetch(ClientRequest{.url = url(path)}); }
  void wait_for_connections(std::size_t count) {
    while (server_.connection_count() != count) std::this_thread::sleep_for(1ms);
  }

  TestServer server_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(HttpClientTest, GetsAndPosts) {
  ClientRequest request{.method = "POST", .url = url("/echo"), .headers = {{"X-Test", "x"}}, .body = "data"};
  EXPECT_EQ(fetch(request)->body, "POST|x|-|-|data");
  request.method = "PUT";
  EXPECT_EQ(fetch(request)->body, "PUT|x|-|-|data");
  EXPECT_EQ(fetch("/echo")->body, "GET|-|-|-|");
  EXPECT_EQ(fetch(ClientRequest{.method = "POST", .url = url("/echo")})->body, "POST|-|-|-|");
  EXPECT_EQ(fetch(ClientRequest{.method = "DELETE", .url = url("/echo")})->body, "DELETE|-|-|-|");
  EXPECT_EQ(fetch(ClientRequest{.method = "HEAD", .url = url("/echo")})->body, "");
}

TEST_F(HttpClientTest, ReusesItsConnection) {
  for (int i = 0; i < 5; ++i) ASSERT_EQ(fetch("/")->body, "hello");
  EXPECT_EQ(server_.connection_count(), 1u);
}

TEST_F(HttpClientTest, RefusesHeaderFieldsAndMethodsThatWouldBeMore) {
  using Case = std::pair<std::string, std::string>;
  for (const auto& [name, value] : {Case{"X", "a\r\nEvil: 1"}, Case{"X Y", "a"}, Case{"X:", "a"},
                                    Case{"", "a"}, Case{"X", std::string("a\0b", 3)}}) {
    ClientRequest request{.url = url("/")};
    request.headers.add(name, value);
    EXPECT_EQ(fetch(request).error().kind, ErrorKind::invalid) << name;
  }
  EXPECT_EQ(fetch(ClientRequest{.method = "GET /evil", .url = url("/")}).error().kind, ErrorKind::invalid);
}

TEST_F(HttpClientTest, SpeaksOnlyHttp) {
  for (const char* bad :
       {"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "", "nonsense://", "http://"})
    EXPECT_EQ(fetch(ClientRequest{.url = bad}).error().kind, ErrorKind::invalid) << bad;
}

TEST_F(HttpClientTest, StreamsTheRequestBody) {
  int left = 20;
  ClientRequest request{.method = "POST", .url = url("/echo")};
  request.body_source = [&left]() -> io::Task<std::optional<std::string>> {
    RELAY_CO_CHECK(co_await io::yield());
    if (left-- == 0) co_return std::optional<std::string>{};
    co_return std::optional<std::string>(std::string(50'000, 'u'));
  };
  const std::string echoed = fetch(request)->body;
  EXPECT_TRUE(echoed == "POST|-|-|-|" + std::string(1'000'000, 'u')) << echoed.size();
}

TEST_F(HttpClientTest, FailsWithTheErrorOfItsBodySource) {
  ClientRequest request{.method = "POST", .url = url("/echo")};
  request.body_source = []() -> io::Task<std::optional<std::string>> { co_return fail(denied("no more")); };
  EXPECT_EQ(fetch(request).error().message, "no more");
}

TEST_F(HttpClientTest, HoldsThePeerBackUntilItsBodyIsRead) {
  auto reading = [&]() -> io::Task<std::size_t> {
    ClientRequest request{.url = url("/big")};
    RELAY_CO_TRY(auto response, co_await client_->send(std::move(request)));
    std::size_t total = 0, largest = 0;
    while (true) {
      RELAY_CO_CHECK(co_await io::sleep_for(1ms));
      RELAY_CO_TRY(auto piece, co_await response->read());
      if (!piece) break;
      total += piece->size();
      largest = std::max(largest, piece->size());
    }
    EXPECT_LE(largest, limits::kClientBufferBytes);
    co_return total;
  };
  EXPECT_EQ(server_.loop().run(reading()), 64 * 64 * limits::kKiB);
}

TEST_F(HttpClientTest, EndsABodyOverItsLimit) {
  ClientRequest request{.url = url("/big")};
  request.max_body_bytes = 100'000;
  EXPECT_EQ(fetch(request).error().kind, ErrorKind::too_large);
}

TEST_F(HttpClientTest, CountsABombUnpacked) {
  ClientRequest request{.url = url("/bomb")};
  request.max_body_bytes = 1 * limits::kMiB;
  EXPECT_EQ(fetch(request).error().kind, ErrorKind::too_large);
  request.max_body_bytes = 32 * limits::kMiB;
  EXPECT_EQ(fetch(request)->body.size(), 32 * limits::kMiB);
}

TEST_F(HttpClientTest, EndsAHeadOverItsLimit) {
  EXPECT_EQ(fetch("/large-head").error().kind, ErrorKind::too_large);
}

TEST_F(HttpClientTest, SaysWhenABodyIsCutOff) {
  EXPECT_EQ(fetch("/cut").error().kind, ErrorKind::unavailable);
}

TEST_F(HttpClientTest, SaysWhenNobodyListens) {
  EXPECT_EQ(fetch(ClientRequest{.url = "http://127.0.0.1:1/"}).error().kind, ErrorKind::unavailable);
}

TEST_F(HttpClientTest, GivesUpOnASilentPeer) {
  ClientRequest request{.url = url("/silent")};
  request.idle_timeout = 30ms;
  EXPECT_EQ(fetch(request).error().kind, ErrorKind::timeout);
  request.idle_timeout = 0ms;
  request.total_timeout = 30ms;
  EXPECT_EQ(fetch(request).error().kind, ErrorKind::timeout);
  wait_for_connections(0);
}

// A port whose queue is full: the kernel answers nobody, as a host that drops packets. With room, it takes a
// connection and then says nothing.
class DeafPort {
 public:
  explicit DeafPort(std::size_t taken) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), any, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 0), 0);
    EXPECT_EQ(::getsockname(listener_.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
    for (std::size_t i = 0; i < taken; ++i) {
      queued_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)::connect(queued_.back().get(), any, size);
    }
  }
  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  Fd listener_;
  std::vector<Fd> queued_;
  std::uint16_t port_ = 0;
};

TEST_F(HttpClientTest, GivesUpOnAPeerThatDoesNotTakeTheConnection) {
  const DeafPort deaf(4);
  ClientRequest request{.url = "http://" + deaf.host() + "/", .connect_timeout = 100ms};
  request.idle_timeout = 0ms;
  EXPECT_EQ(fetch(request).error().kind, ErrorKind::timeout);
}

TEST_F(HttpClientTest, GivesUpOnAPeerThatDoesNotFinishTheHandshake) {
  const DeafPort deaf(0);
  ClientRequest request{.url = "https://" + deaf.host() + "/", .connect_timeout = 100ms};
  request.idle_timeout = 0ms;
  EXPECT_EQ(fetch(request).error().kind, ErrorKind::timeout);
}

TEST_F(HttpClientTest, DropsTheTransferOfACancelledCoroutine) {
  io::CancelSource cancel;
  server_.loop().call([&] {
    auto waiting = [](HttpClient& client, ClientRequest request) -> io::Task<void> {
      RELAY_CO_CHECK(co_await client.fetch(std::move(request)));
      co_return Result<void>{};
    };
    io::spawn(server_.loop().executor(), waiting(*client_, ClientRequest{.url = url("/silent")}), "waiting",
              cancel);
  });
  wait_for_connections(1);
  server_.loop().call([&] { cancel.cancel(); });
  wait_for_connections(0);
  EXPECT_EQ(fetch("/")->body, "hello");
}

TEST_F(HttpClientTest, AsksAboutEachAddressBeforeConnecting) {
  std::vector<std::string> seen;
  ClientRequest request{.url = "http://somewhere.test:" + std::to_string(server_.port()) + "/"};
  request.resolve = {"somewhere.test:" + std::to_string(server_.port()) + ":127.0.0.1"};
  request.on_address = [&](const std::string& ip, std::uint16_t port) -> Result<void> {
    seen.push_back(ip + " " + std::to_string(port));
    return fail(denied("loopback"));
  };
  EXPECT_EQ(fetch(request).error().message, "loopback");
  EXPECT_THAT(seen, ElementsAre("127.0.0.1 " + std::to_string(server_.port())));
  EXPECT_EQ(server_.connection_count(), 0u);
}

TEST_F(HttpClientTest, AsksAgainBeforeItUsesAPooledConnection) {
  ASSERT_EQ(fetch("/")->body, "hello");
  ClientRequest request{.url = url("/echo")};
  request.on_address = [](const std::string&, std::uint16_t) -> Result<void> {
    return fail(denied("not for you"));
  };
  EXPECT_EQ(fetch(request).error().message, "not for you");
}

TEST_F(HttpClientTest, FollowsRedirectsAsFarAsItMay) {
  ClientRequest request{.url = url("/redirect?status=302&to=/redirect%3Fstatus%3D301%26to%3D/echo")};
  EXPECT_EQ(fetch(request)->status, 302);
  request.max_redirects = 2;
  EXPECT_EQ(fetch(request)->body, "GET|-|-|-|");
  request.max_redirects = 1;
  EXPECT_EQ(fetch(request).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(fetch(ClientRequest{.url = url("/loop"), .max_redirects = 5}).error().kind,
            ErrorKind::unavailable);
}

TEST_F(HttpClientTest, AsksAboutEachRedirect) {
  std::vector<std::string> seen;
  ClientRequest request{
      .url = url("/redirect?status=302&to=/redirect%3Fstatus%3D302%26to%3Dhttp://evil.test/"),
      .max_redirects = 5};
  request.on_redirect = [&](const std::string& target, int hop) -> Result<void> {
    seen.push_back(std::to_string(hop) + " " + target);
    if (target.find("evil") != std::string::npos && hop == 2) return fail(denied("evil"));
    return {};
  };
  EXPECT_EQ(fetch(request).error().message, "evil");
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1], "2 http://evil.test/");
}

TEST_F(HttpClientTest, RefusesARedirectToAnotherProtocol) {
  for (const char* target : {"file:///etc/passwd", "ftp://x/", "javascript:1"})
    EXPECT_EQ(
        fetch(ClientRequest{.url = url("/redirect?status=302&to=" + std::string(target)), .max_redirects = 5})
            .error()
            .kind,
        ErrorKind::invalid);
}

TEST_F(HttpClientTest, RewritesTheMethodAsBrowsersDo) {
  const auto after = [&](std::string method, int status) {
    ClientRequest request{.method = method,
                          .url = url("/redirect?status=" + std::to_string(status) + "&to=/echo"),
                          .headers = {{"Content-Type", "text/x"}},
                          .body = method == "GET" ? "" : "data",
                          .max_redirects = 1};
    return fetch(request)->body;
  };
  EXPECT_EQ(after("POST", 301), "GET|-|-|-|");
  EXPECT_EQ(after("POST", 302), "GET|-|-|-|");
  EXPECT_EQ(after("PUT", 303), "GET|-|-|-|");
  EXPECT_EQ(after("PUT", 302), "PUT|-|-|text/x|data");
  EXPECT_EQ(after("POST", 307), "POST|-|-|text/x|data");
  EXPECT_EQ(after("POST", 308), "POST|-|-|text/x|data");
}

TEST_F(HttpClientTest, KeepsSecretsFromAnotherOrigin) {
  TestServer other(peer);
  const std::string elsewhere = "http://127.0.0.1:" + std::to_string(other.port()) + "/echo";
  ClientRequest request{.url = url("/redirect?status=302&to=" + elsewhere),
                        .headers = {{"Authorization", "Bearer s"}, {"X-Test", "kept"}},
                        .max_redirects = 1};
  EXPECT_EQ(fetch(request)->body, "GET|kept|-|-|");
  request.url = url("/redirect?status=302&to=/echo");
  EXPECT_EQ(fetch(request)->body, "GET|kept|Bearer s|-|");
}

TEST_F(HttpClientTest, DoesNotRepeatAStreamedBody) {
  ClientRequest request{.method = "POST", .url = url("/redirect?status=307&to=/echo"), .max_redirects = 1};
  request.body_source = []() -> io::Task<std::optional<std::string>> {
    co_return std::optional<std::string>{};
  };
  EXPECT_EQ(fetch(request).error().kind, ErrorKind::unavailable);
}

TEST_F(HttpClientTest, ReadsEventsAndGoesOnAfterAReconnect) {
  auto reading = [&]() -> io::Task<std::vector<std::string>> {
    std::vector<std::string> seen;
    std::optional<std::string> last_id;
    for (int round = 0; round < 2; ++round) {
      ClientRequest request{.url = url("/events")};
      if (last_id) request.headers.add("Last-Event-ID", *last_id);
      RELAY_CO_TRY(auto response, co_await client_->send(std::move(request)));
      EXPECT_TRUE(is_event_stream(response->headers()));
      SseReader reader(std::move(response));
      while (true) {
        RELAY_CO_TRY(auto event, co_await reader.next());
        if (!event) break;
        seen.push_back(event->data);
      }
      last_id = reader.last_id();
    }
    co_return seen;
  };
  EXPECT_THAT(*server_.loop().run(reading()), ElementsAre("event 1", "event 2", "event 3", "event 4"));
}

TEST_F(HttpClientTest, RunsManyTransfersAtOnce) {
  std::atomic<int> right = 0;
  server_.loop().call([&] {
    for (int i = 0; i < 50; ++i) {
      auto one = [](HttpClient& client, ClientRequest request, std::atomic<int>& count) -> io::Task<void> {
        RELAY_CO_TRY(auto response, co_await client.fetch(std::move(request)));
        if (response.body == "hello") ++count;
        co_return Result<void>{};
      };
      io::spawn(server_.loop().executor(), one(*client_, ClientRequest{.url = url("/")}, right), "one");
    }
  });
  while (right < 50) std::this_thread::sleep_for(1ms);
}

TEST(HttpClientTls, TrustsOnlyTheGivenCertificate) {
  const TestCertificate certificate;
  HttpServerOptions options;
  options.tls = ServerTls{certificate.certificate_path(), certificate.key_path()};
  TestServer server(peer, options);
  auto client = server.loop().call([&] { return HttpClient::make(server.loop().executor()); });
  ClientRequest request{.url = "https://localhost:" + std::to_string(server.port()) + "/echo"};
  request.resolve = {"localhost:" + std::to_string(server.port()) + ":127.0.0.1"};
  EXPECT_EQ(server.loop().run(client->fetch(request)).error().kind, ErrorKind::unavailable);
  request.ca_file = certificate.certificate_path();
  EXPECT_EQ(server.loop().run(client->fetch(request))->body, "GET|-|-|-|");
  server.loop().call([&] { client.reset(); });
}

TEST(HttpClientUrl, ResolvesAndCompares) {
  EXPECT_EQ(resolve_url("http://a.test/x/y?q", "../z"), "http://a.test/z");
  EXPECT_EQ(resolve_url("http://a.test/x", "//b.test/y"), "http://b.test/y");
  EXPECT_FALSE(resolve_url("http://a.test/", "data:text/plain,x"));
  EXPECT_EQ(origin_of("HTTP://A.test/x"), "http://a.test:80");
  EXPECT_EQ(origin_of("https://a.test:444/x"), "https://a.test:444");
}

}  // namespace
}  // namespace relay::net
