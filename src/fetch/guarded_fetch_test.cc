#include "fetch/guarded_fetch.h"

#include <zlib.h>

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit/recorded_fixture.h"
#include "net/server_fixture.h"

namespace relay::fetch {
namespace {

using namespace std::chrono_literals;
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

std::string seen(const net::HttpRequest& request, std::string_view body) {
  std::string text = request.method + " " + request.target + "\n";
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\n";
  return text.append("\n").append(body);
}

// The other side, one path a behaviour.
io::Task<void> peer(net::HttpExchange& exchange) {
  const net::HttpRequest& request = exchange.request();
  RELAY_CO_TRY(const std::string body, co_await exchange.read_body());
  net::HttpResponse response = net::text_response(200, seen(request, body));
  if (request.path == "/to") {
    response.status = std::stoi(*net::find_query(request.query, "status"));
    response.headers.add("Location", *net::find_query(request.query, "url"));
  } else if (request.path == "/bomb") {
    response.body = gzip(std::string(32 * limits::kMiB, 'a'));
    response.headers.add("Content-Encoding", "gzip");
  } else if (request.path == "/packed") {
    response.body = gzip("unpacked");
    response.headers.add("Content-Encoding", "gzip");
  } else if (request.path == "/cookies") {
    response.headers.add("Set-Cookie", "session=1");
    response.headers.add("X-Kept", "yes");
    response.headers.add("Alt-Svc", "h3=\":1\"");
  } else if (request.path == "/bytes") {
    response.body.clear();
    for (int i = 0; i < 256; ++i) response.body.push_back(static_cast<char>(i));
  } else if (request.path == "/silent") {
    co_return co_await exchange.peer_gone().wait();
  } else if (request.path == "/stream") {
    net::Headers headers;
    RELAY_CO_TRY(auto out, co_await exchange.start_stream(200, std::move(headers)));
    const std::string piece(64 * limits::kKiB, 'b');
    for (int i = 0; i < 32; ++i) RELAY_CO_CHECK(co_await out->write(piece));
    co_return co_await out->finish();
  }
  co_return co_await exchange.respond(std::move(response));
}

class Fetch : public ::testing::Test {
 protected:
  Fetch() {
    network.allowed = {*policy::parse_host_pattern("*.example.org"),
                       *policy::parse_host_pattern("other.test")};
  }
  ~Fetch() override {
    loop.call([&] {
      guarded.reset();
      client.reset();
    });
  }

  // Names go to the test's server; loopback itself is let through, everything else private is not.
  std::shared_ptr<GuardedFetch> guard() {
    if (guarded) return guarded;
    return loop.call([&] {
      client = net::HttpClient::make(loop.executor());
      FetchRules rules = rules_from(network);
      const auto real = rules.check_address;
      rules.check_address = [real, this](const policy::Target& target,
                                         const policy::Address& address) -> Result<void> {
        if (policy::to_text(address) == permitted) return {};
        return real(target, address);
      };
      if (!options.resolver)
        options.resolver = [](const policy::Target& target) { return answer(target, "127.0.0.1"); };
      options.on_refusal = [this](const BlockedFetch& refusal) { refusals.push_back(refusal); };
      guarded = GuardedFetch::make(recorded.get(), loop.executor(), *client, std::move(rules), options);
      return guarded;
    });
  }
  static std::vector<std::string> answer(const policy::Target& target, std::string_view address) {
    return {fmt::format("{}:{}:{}", target.host.name, target.port, address)};
  }
  std::string url(std::string_view path, std::string_view host = "api.example.org") {
    return fmt::format("http://{}:{}{}", host, server.port(), path);
  }

  Result<std::pair<ReplyHead, std::string>> get(FetchRequest request) {
    auto whole = [](std::shared_ptr<GuardedFetch> from,
                    FetchRequest wanted) -> io::Task<std::pair<ReplyHead, std::string>> {
      RELAY_CO_TRY(auto response, co_await from->send(std::move(wanted)));
      RELAY_CO_TRY(std::string body, co_await response->read_rest());
      co_return std::pair(response->head(), std::move(body));
    };
    return loop.run(whole(guard(), std::move(request)));
  }
  Result<std::pair<ReplyHead, std::string>> get(std::string address) {
    return get(FetchRequest{.url = std::move(address)});
  }

  net::TestServer server{peer};
  audit::RecordedCall recorded;  // first: what is still open on the loop has effects to write
  net::LoopThread loop;
  policy::NetworkPolicy network;
  FetchOptions options;
  std::string permitted = "127.0.0.1";
  std::vector<BlockedFetch> refusals;
  std::unique_ptr<net::HttpClient> client;
  std::shared_ptr<GuardedFetch> guarded;
};

TEST_F(Fetch, ReachesAnAllowedHost) {
  const auto reply = get(url("/x?y=1#z"));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->first.status, 200);
  EXPECT_THAT(reply->second, HasSubstr("GET /x?y=1\n"));
  EXPECT_FALSE(reply->first.redirected);
  EXPECT_EQ(guarded->counters().requests, 1U);
  EXPECT_EQ(guarded->in_flight(), 0U);
}

TEST_F(Fetch, WhatLeftIsAnEffectOfTheRunWithItsBytes) {
  FetchRequest post{.url = url("/x"), .method = "POST", .body = "12345"};
  const auto reply = get(std::move(post));
  ASSERT_TRUE(reply);
  const auto lines = loop.call([&] { return recorded.lines(); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(json::find_string(lines[0], "parent"), "req_1");
  EXPECT_EQ(json::find_string(lines[0], "outcome"), "ok");
  EXPECT_EQ(json::find_int(lines[0], "tier"), 2);
  const json::object& args = lines[0].at("args").as_object();
  EXPECT_EQ(json::find_string(args, "host"), fmt::format("api.example.org:{}", server.port()));
  EXPECT_EQ(json::find_string(args, "method"), "POST");
  EXPECT_EQ(json::find_int(args, "sentBytes"), 5);
  EXPECT_EQ(json::find_int(args, "receivedBytes"), static_cast<std::int64_t>(reply->second.size()));
}

TEST_F(Fetch, EachHopOfARedirectIsAnEffect) {
  ASSERT_TRUE(get(url(fmt::format("/to?status=302&url={}", url("/there", "other.test")))));
  const auto lines = loop.call([&] { return recorded.lines(); });
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(json::write(lines[0].at("args")), HasSubstr("api.example.org"));
  EXPECT_THAT(json::write(lines[1].at("args")), HasSubstr("other.test"));
}

TEST_F(Fetch, ARequestWithoutAnAnswerIsAnEffectThatFailed) {
  options.resolver = [](const policy::Target& target) {
    return std::vector<std::string>{fmt::format("{}:{}:127.0.0.1", target.host.name, target.port)};
  };
  ASSERT_FALSE(get("http://api.example.org:1/"));
  const auto lines = loop.call([&] { return recorded.lines(); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(json::find_string(lines[0], "outcome"), "ok");
  EXPECT_EQ(json::find_bool(lines[0], "denied"), false);
}

TEST_F(Fetch, ARefusalIsAnEffectThatWasDenied) {
  ASSERT_FALSE(get("http://evil.test/"));
  const auto lines = loop.call([&] { return recorded.lines(); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(json::find_bool(lines[0], "denied"), true);
  EXPECT_EQ(json::write(lines[0].at("args")), R"({"host":"evil.test","what":"url"})");
}

TEST_F(Fetch, RefusesEveryOtherHostAndSaysWhich) {
  for (const char* refused :
       {"http://evilexample.org/", "http://example.org.evil.test/", "http://127.0.0.1/", "http://2130706433/",
        "http://[::1]/", "ftp://api.example.org/", "file:///etc/passwd", "http://user:pw@api.example.org/",
        "gopher://api.example.org/", "http://api.example.org\\@evil.test/", "//api.example.org/"}) {
    const auto reply = get(refused);
    ASSERT_FALSE(reply) << refused;
    EXPECT_TRUE(reply.error().kind == ErrorKind::denied || reply.error().kind == ErrorKind::invalid)
        << refused << ": " << reply.error().message;
  }
  EXPECT_EQ(guarded->counters().requests, 0U) << "nothing left this machine";
  EXPECT_EQ(guarded->counters().refused_urls, 11U);
  ASSERT_EQ(refusals.size(), 11U);
  EXPECT_EQ(refusals[0].host, "evilexample.org");
}

TEST_F(Fetch, DenyBeatsAllow) {
  network.denied = {*policy::parse_host_pattern("secret.example.org")};
  EXPECT_TRUE(get(url("/", "api.example.org")));
  EXPECT_FALSE(get(url("/", "secret.example.org")));
  EXPECT_FALSE(get(url("/", "SECRET.example.org.")));
}

TEST_F(Fetch, ANameThatResolvesToAPrivateAddressIsNotConnectedTo) {
  permitted = "";
  for (const char* address : {"127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.1.1", "::1",
                              "::ffff:127.0.0.1", "fe80::1", "0.0.0.0"}) {
    guarded.reset();
    refusals.clear();
    options.resolver = [address](const policy::Target& target) { return answer(target, address); };
    const auto reply = get(url("/"));
    ASSERT_FALSE(reply) << address;
    EXPECT_EQ(reply.error().kind, ErrorKind::denied) << address << ": " << reply.error().message;
    ASSERT_FALSE(refusals.empty()) << address;
    EXPECT_EQ(refusals[0].what, BlockedFetch::What::address);
    EXPECT_EQ(refusals[0].host, "api.example.org");
    EXPECT_EQ(refusals[0].network.find(".2.3"), std::string::npos) << refusals[0].network;
  }
}

TEST_F(Fetch, ANameThatChangesItsAnswerGainsNothing) {
  // The first answer is fine; every later one points somewhere private. No check is remembered past its
  // connection.
  auto asked = std::make_shared<int>(0);
  options.resolver = [asked](const policy::Target& target) {
    return answer(target, ++*asked == 1 ? "127.0.0.1" : "127.0.0.2");
  };
  ASSERT_TRUE(get(url("/", "one.example.org")));
  const auto rebound = get(url("/", "two.example.org"));
  ASSERT_FALSE(rebound);
  EXPECT_EQ(rebound.error().kind, ErrorKind::denied);
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].network, "127.0.0.0/24");
}

TEST_F(Fetch, ARedirectIsJudgedLikeAFirstRequest) {
  const auto followed = get(url("/to?status=302&url=/there"));
  ASSERT_TRUE(followed) << followed.error().message;
  EXPECT_TRUE(followed->first.redirected);
  EXPECT_EQ(followed->first.url, url("/there"));
  for (const char* target : {"http://evil.test/", "http://127.0.0.1/", "http://0x7f.1/", "file:///etc/passwd",
                             "http://169.254.169.254/latest/", "//evil.test/"}) {
    const auto reply = get(url(fmt::format("/to?status=302&url={}", target)));
    EXPECT_FALSE(reply) << target;
  }
  EXPECT_EQ(guarded->counters().refused_redirects, 6U);
  EXPECT_EQ(guarded->counters().redirects, 1U);
}

TEST_F(Fetch, ARedirectToANameThatResolvesInsideIsStopped) {
  options.resolver = [](const policy::Target& target) {
    return answer(target, target.host.name == "in.example.org" ? "10.0.0.7" : "127.0.0.1");
  };
  const auto reply = get(url(fmt::format("/to?status=307&url=http://in.example.org:{}/", server.port())));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::denied);
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].network, "10.0.0.0/24");
}

TEST_F(Fetch, RedirectsHaveALimitAndMayBeLeftAlone) {
  network.max_redirects = 2;
  EXPECT_FALSE(get(url("/to?status=302&url=/to?status=302%26url=/to?status=302%2526url=/x")));
  FetchRequest manual{.url = url("/to?status=302&url=http://evil.test/"), .redirects = Redirects::manual};
  const auto left = get(std::move(manual));
  ASSERT_TRUE(left);
  EXPECT_EQ(left->first.status, 302);
  EXPECT_FALSE(get(FetchRequest{.url = url("/to?status=302&url=/x"), .redirects = Redirects::error}));
}

TEST_F(Fetch, MethodsAndBodiesChangeAcrossRedirectsAsInBrowsers) {
  const auto post = [&](int status) {
    FetchRequest request{
        .url = url(fmt::format("/to?status={}&url=/echo", status)), .method = "POST", .body = "payload"};
    request.headers.add("Content-Type", "text/x-test");
    return get(std::move(request))->second;
  };
  for (const int status : {301, 302, 303}) {
    EXPECT_THAT(post(status), HasSubstr("GET /echo\n")) << status;
    EXPECT_THAT(post(status), testing::Not(HasSubstr("payload")));
    EXPECT_THAT(post(status), testing::Not(HasSubstr("text/x-test")));
  }
  for (const int status : {307, 308}) {
    EXPECT_THAT(post(status), HasSubstr("POST /echo\n")) << status;
    EXPECT_THAT(post(status), HasSubstr("payload"));
  }
}

TEST_F(Fetch, CredentialsDoNotFollowToAnotherOrigin) {
  const auto with_token = [&](std::string_view host) {
    FetchRequest request{.url =
                             url(fmt::format("/to?status=307&url=http://{}:{}/echo", host, server.port()))};
    request.headers.add("Authorization", "Bearer secret");
    return get(std::move(request))->second;
  };
  EXPECT_THAT(with_token("api.example.org"), HasSubstr("secret"));
  EXPECT_THAT(with_token("other.test"), testing::Not(HasSubstr("secret")));
}

TEST_F(Fetch, ABombIsStoppedByTheCap) {
  network.max_body_bytes = 1 << 20;
  const auto reply = get(url("/bomb"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::too_large);
  EXPECT_LE(guarded->counters().bytes_received, 1U << 20);
  EXPECT_EQ(guarded->counters().refused_bodies, 1U);
}

TEST_F(Fetch, BodiesAreCappedBothWays) {
  network.max_body_bytes = 100'000;
  EXPECT_EQ(get(url("/stream")).error().kind, ErrorKind::too_large);
  EXPECT_EQ(
      get(FetchRequest{.url = url("/"), .method = "POST", .body = std::string(100'001, 'x')}).error().kind,
      ErrorKind::too_large);
  EXPECT_EQ(guarded->in_flight(), 0U);
}

TEST_F(Fetch, BytesArriveAsTheyAre) {
  const auto reply = get(url("/bytes"));
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->second.size(), 256U);
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(static_cast<unsigned char>(reply->second[static_cast<std::size_t>(i)]), i);
  const auto sent = get(FetchRequest{.url = url("/echo"), .method = "POST", .body = reply->second});
  EXPECT_THAT(sent->second, HasSubstr(reply->second));
}

TEST_F(Fetch, CookiesAndConnectionHeadersStayHere) {
  const auto reply = get(url("/cookies"));
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->first.headers.find("set-cookie"));
  EXPECT_FALSE(reply->first.headers.find("alt-svc"));
  EXPECT_EQ(reply->first.headers.find("x-kept"), "yes");
  EXPECT_THAT(get(url("/again"))->second, testing::Not(HasSubstr("session=1")));
}

TEST_F(Fetch, APackedBodyArrivesUnpackedAndSaysNothingElse) {
  const auto reply = get(url("/packed"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->second, "unpacked");
  EXPECT_FALSE(reply->first.headers.find("content-encoding"));
  EXPECT_FALSE(reply->first.headers.find("content-length"));
}

TEST_F(Fetch, ARequestBodyMayBeStreamed) {
  auto left = std::make_shared<int>(3);
  FetchRequest request{.url = url("/echo"), .method = "POST"};
  request.body_source = [left]() -> io::Task<std::optional<std::string>> {
    if (--*left < 0) co_return std::optional<std::string>{};
    co_return std::optional<std::string>("piece;");
  };
  const auto reply = get(std::move(request));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(reply->second, HasSubstr("piece;piece;piece;"));
}

TEST_F(Fetch, AtMostSoManyAreInFlight) {
  options.in_flight = 2;
  auto from = guard();
  auto three = [this](std::shared_ptr<GuardedFetch> shared) -> io::Task<std::size_t> {
    RELAY_CO_TRY(auto one, co_await shared->send(FetchRequest{.url = url("/stream")}));
    RELAY_CO_TRY(auto two, co_await shared->send(FetchRequest{.url = url("/stream")}));
    auto third = io::with_timeout(shared->send(FetchRequest{.url = url("/x")}), 50ms, "waits");
    const auto waited = co_await std::move(third);
    if (waited) co_return fail(internal("the third did not wait"));
    one.reset();
    RELAY_CO_TRY(auto now, co_await shared->send(FetchRequest{.url = url("/x")}));
    co_return shared->in_flight();
  };
  const auto count = loop.run(three(from));
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(*count, 2U);
}

TEST_F(Fetch, ASilentServerTimesOut) {
  options.idle_timeout = 50ms;
  const auto reply = get(url("/silent"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::timeout);
  EXPECT_EQ(guarded->in_flight(), 0U);
}

TEST(FetchRequestText, TakesWhatAGuestMaySay) {
  const auto request = parse_fetch_request(
      *json::parse_object(
          R"({"url":"http://a/","method":"post","headers":[["X-A","b"],["Host","evil"],["Cookie","c"],["Proxy-Authorization","p"],
    ["Sec-Fetch-Site","s"],["Transfer-Encoding","chunked"],["Content-Length","0"]],"redirect":"manual"})"),
      "body");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(request->headers.size(), 1U);
  EXPECT_EQ(request->redirects, Redirects::manual);
}

TEST(FetchRequestText, RefusesWhatCouldSmuggle) {
  for (const char* bad :
       {R"({})", R"({"url":""})", R"({"url":"http://a/","method":"CONNECT"})",
        R"({"url":"http://a/","method":"GET /x HTTP/1.1\r\nX: y"})",
        R"({"url":"http://a/","method":"TRACE"})", R"({"url":"http://a/","headers":[["A\r\nB","c"]]})",
        R"({"url":"http://a/","headers":[["A","b\r\nC: d"]]})",
        R"({"url":"http://a/","headers":[["A","b\u0000"]]})", R"({"url":"http://a/","headers":[["A"]]})",
        R"({"url":"http://a/","headers":{"a":"b"}})", R"({"url":"http://a/","redirect":"maybe"})",
        R"({"url":"http://a/","headers":[["","b"]]})"})
    EXPECT_FALSE(parse_fetch_request(*json::parse_object(bad), "")) << bad;
  EXPECT_FALSE(parse_fetch_request(*json::parse_object(R"({"url":"http://a/"})"), "a body"))
      << "GET with a body";
}

TEST(FetchRequestText, WritesTheReply) {
  ReplyHead head{404, "http://a:80/", true, {{"a", "b"}}};
  EXPECT_EQ(
      json::write(reply_value(head)),
      R"({"status":404,"statusText":"Not Found","url":"http://a:80/","redirected":true,"headers":[["a","b"]]})");
}

TEST(FetchText, RedactsAddressesToTheirNetwork) {
  EXPECT_EQ(network_of(*policy::find_address("203.0.113.9")), "203.0.113.0/24");
  EXPECT_EQ(network_of(*policy::find_address("2001:db8:1:2::3")), "2001:db8:1::/48");
}

TEST(FetchText, SpellsTheUrlThatWasJudged) {
  const auto spelled = [](std::string_view text) { return judged_url(*policy::parse_target(text), text); };
  EXPECT_EQ(spelled("HTTP://EXAMPLE.org./a?b#c"), "http://example.org/a?b");
  EXPECT_EQ(spelled("https://example.org"), "https://example.org/");
  EXPECT_EQ(spelled("https://example.org?q"), "https://example.org/?q");
  EXPECT_EQ(spelled("http://[2001:db8::1]:8080/x"), "http://[2001:db8::1]:8080/x");
  EXPECT_EQ(spelled("http://0x7f.1/"), "http://127.0.0.1/");
}

Result<FetchRequest> parsed(const json::object& args, std::string body = "") {
  return parse_fetch_request(args, std::move(body));
}

json::object with_header(json::value header) {
  json::array headers;
  headers.push_back(std::move(header));
  return {{"url", "http://a/"}, {"headers", std::move(headers)}};
}

json::object with_headers(std::size_t count, std::size_t value_bytes) {
  json::array headers;
  for (std::size_t i = 0; i < count; ++i)
    headers.emplace_back(json::array{"x", std::string(value_bytes, 'v')});
  return {{"url", "http://a/"}, {"headers", std::move(headers)}};
}

// A limit that is off by one refuses what the documentation promises.
TEST(FetchRequestText, TakesExactlyAsMuchAsTheLimitsSay) {
  EXPECT_TRUE(parsed(with_headers(limits::kFetchHeaders, 1)));
  EXPECT_FALSE(parsed(with_headers(limits::kFetchHeaders + 1, 1)));
  EXPECT_TRUE(parsed(with_headers(1, limits::kClientHeaderBytes - 1)));
  const auto large = parsed(with_headers(1, limits::kClientHeaderBytes));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind, ErrorKind::too_large);
  EXPECT_FALSE(parsed(with_headers(2, limits::kClientHeaderBytes / 2))) << "names count too";
  const std::string start = "http://a/";
  EXPECT_TRUE(parsed({{"url", start + std::string(limits::kUriBytes - start.size(), 'u')}}));
  EXPECT_FALSE(parsed({{"url", start + std::string(limits::kUriBytes - start.size() + 1, 'u')}}));
}

// A header that frames the message or speaks for the connection is relay's to write.
TEST(FetchRequestText, HeadersOfTheConnectionAreLeftOut) {
  for (const std::string name : {"Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "TE",
                                 "Trailer", "Keep-Alive", "Expect", "Cookie", "Cookie2", "Via", "Forwarded",
                                 "X-Forwarded-For", "Accept-Encoding", "Proxy-X", "Sec-X"}) {
    const auto request = parsed(with_header(json::array{name, "v"}));
    ASSERT_TRUE(request) << name;
    EXPECT_EQ(request->headers.size(), 0U) << name;
  }
  for (const std::string name : {"Accept", "Authorization", "X-Proxy-X", "Second"}) {
    const auto request = parsed(with_header(json::array{name, " v "}));
    ASSERT_TRUE(request) << name;
    EXPECT_EQ(request->headers.find(name), "v") << name;
  }
}

TEST(FetchRequestText, NamesAndValuesOfHeadersHaveTheirAlphabet) {
  const auto takes = [](std::string name, std::string value) {
    return parsed(with_header(json::array{std::move(name), std::move(value)})).has_value();
  };
  for (const std::string name : {"a", "z", "A", "Z", "0", "9", "!", "~", "x-y_z"})
    EXPECT_TRUE(takes(name, "v")) << name;
  for (const std::string name : {"a b", "a:", "a/", "a@", "a[", "a`{", "\x7f", "\xc3\xa9"})
    EXPECT_FALSE(takes(name, "v")) << name;
  for (const std::string value : {"", " ", "\t", "~", "\xc3\xa9"}) EXPECT_TRUE(takes("x", value)) << value;
  for (const std::string value : {"\n", "\r", "\x1f", "\x7f"}) EXPECT_FALSE(takes("x", value)) << value;
  for (const json::value& wrong : {json::value(json::array{1, "v"}), json::value(json::array{"x", 1}),
                                   json::value(json::array{"x", "v", "w"}), json::value("x")})
    EXPECT_FALSE(parsed(with_header(wrong))) << json::write(wrong);
  EXPECT_TRUE(parsed({{"url", "http://a/"}, {"headers", nullptr}}));
}

TEST(FetchRequestText, MethodsAreKnownInAnyCaseAndTwoOfThemHaveNoBody) {
  for (const std::string method : {"get", "HEAD", "Post", "put", "patch", "delete", "options"})
    EXPECT_TRUE(parsed({{"url", "http://a/"}, {"method", method}})) << method;
  for (const std::string method : {"get", "head"})
    EXPECT_FALSE(parsed({{"url", "http://a/"}, {"method", method}}, "b")) << method;
  for (const std::string method : {"post", "put", "patch", "delete", "options"})
    EXPECT_TRUE(parsed({{"url", "http://a/"}, {"method", method}}, "b")) << method;
  EXPECT_EQ(parsed({{"url", "http://a/"}, {"redirect", "error"}})->redirects, Redirects::error);
  EXPECT_EQ(parsed({{"url", "http://a/"}})->redirects, Redirects::follow);
}

// Length and encoding describe the packed bytes, so they go exactly when the body was unpacked.
TEST(FetchText, AGuestSeesTheLengthOfWhatItGets) {
  const auto kept = [](std::string encoding) {
    net::Headers headers{
        {"Content-Length", "5"}, {"Content-Encoding", std::move(encoding)}, {"Proxy-X", "p"}};
    return guest_headers(headers);
  };
  EXPECT_FALSE(kept("gzip").find("content-length"));
  EXPECT_FALSE(kept("gzip").find("content-encoding"));
  EXPECT_EQ(kept("Identity").find("content-length"), "5");
  EXPECT_EQ(kept("").find("content-length"), "5");
  EXPECT_FALSE(kept("").find("proxy-x"));
  EXPECT_EQ(guest_headers(net::Headers{{"Content-Length", "5"}}).find("content-length"), "5");
}

TEST(FetchText, AUrlKeepsOnlyThePortThatIsNotItsSchemes) {
  const auto spelled = [](std::string_view text) { return judged_url(*policy::parse_target(text), text); };
  EXPECT_EQ(spelled("http://a.test:80/"), "http://a.test/");
  EXPECT_EQ(spelled("http://a.test:443/"), "http://a.test:443/");
  EXPECT_EQ(spelled("https://a.test:443/"), "https://a.test/");
  EXPECT_EQ(spelled("https://a.test:80/"), "https://a.test:80/");
  EXPECT_EQ(spelled("http://1.2.3.4/"), "http://1.2.3.4/");
  EXPECT_EQ(spelled("http://a.test#x"), "http://a.test/");
}

TEST_F(Fetch, OnlyAPostBecomesAGetUnlessTheAnswerIsSeeOther) {
  const auto sent = [&](std::string method, int status) {
    FetchRequest request{.url = url(fmt::format("/to?status={}&url=/echo", status)),
                         .method = std::move(method)};
    return get(std::move(request))->second;
  };
  EXPECT_THAT(sent("PUT", 301), HasSubstr("PUT /echo\n"));
  EXPECT_THAT(sent("PUT", 302), HasSubstr("PUT /echo\n"));
  EXPECT_THAT(sent("PUT", 303), HasSubstr("GET /echo\n"));
  EXPECT_THAT(sent("DELETE", 303), HasSubstr("GET /echo\n"));
  EXPECT_THAT(sent("GET", 303), HasSubstr("GET /echo\n"));
}

TEST_F(Fetch, ExactlyAsManyRedirectsAsAllowedAreFollowed) {
  network.max_redirects = 1;
  const auto once = get(url("/to?status=302&url=/echo"));
  ASSERT_TRUE(once);
  EXPECT_TRUE(once->first.redirected);
  EXPECT_FALSE(get(url("/to?status=302&url=/to?status=302%26url=/x")));
  const auto none = get(url("/echo"));
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->first.redirected);
  const auto odd = get(url("/to?status=304&url=/echo"));
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->first.status, 304);
}

TEST_F(Fetch, EveryCredentialHeaderStaysWithItsOrigin) {
  FetchRequest request{.url =
                           url(fmt::format("/to?status=307&url=http://other.test:{}/echo", server.port()))};
  for (const char* name : {"Authorization", "X-Api-Key", "Api-Key"}) request.headers.add(name, "secret");
  request.headers.add("X-Kept", "kept");
  const auto reply = get(std::move(request));
  ASSERT_TRUE(reply);
  EXPECT_THAT(reply->second, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(reply->second, HasSubstr("kept"));
}

}  // namespace
}  // namespace relay::fetch
