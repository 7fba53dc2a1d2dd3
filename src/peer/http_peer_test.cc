// HTTP servers that forget, break off, redirect and refuse: a few lines of handler each, on the same loop.
#include <gmock/gmock.h>

#include "net/http_server.h"
#include "peer/http_params.h"
#include "peer/peer_fixture.h"

namespace relay::peer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHello =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{},"resources":{"subscribe":true}},"serverInfo":{"name":"fake","version":"1"}})";

struct Seen {
  net::HttpRequest request;
  std::string body;
  std::string method;  // of the message
  std::string id = "null";

  [[nodiscard]] std::string field(std::string_view name) const {
    return std::string(request.headers.find(name).value_or(""));
  }
};

class HttpPeerTest : public testing::Test {
 protected:
  using Handler = std::function<io::Task<void>(net::HttpExchange&, const Seen&)>;

  ~HttpPeerTest() override {
    peer_.reset();
    loop_.settle();
    if (server_) EXPECT_TRUE(loop_.run(server_->stop(std::chrono::milliseconds(200))));
    loop_.settle();
  }

  void serve(Handler handler) {
    handler_ = std::move(handler);
    server_ = net::HttpServer::open(loop_.executor(), {}, [this](net::HttpExchange& exchange) {
                return take(exchange);
              }).value();
    http_ = net::HttpClient::make(loop_.executor());
    target_.endpoint = "http://127.0.0.1:" + std::to_string(server_->port()) + "/mcp";
  }
  Result<std::unique_ptr<Peer>> try_connect(EraChoice era) {
    return loop_.run(connect_http(loop_.executor(), *http_, target_, test_options(era), observer_));
  }
  void connect(EraChoice era) {
    auto peer = try_connect(era);
    ASSERT_TRUE(peer) << peer.error().message;
    peer_ = *std::move(peer);
  }
  Result<PeerAnswer> call(Outgoing outgoing) {
    return loop_.run(peer_->request(std::move(outgoing), exchange_));
  }
  std::vector<std::string> methods() const {
    std::vector<std::string> all;
    for (const Seen& one : seen_) all.push_back(one.method);
    return all;
  }

  static net::HttpResponse result(const Seen& seen, std::string_view text) {
    return net::json_response(
        200, R"({"jsonrpc":"2.0","id":)" + seen.id + R"(,"result":)" + std::string(text) + "}");
  }
  static std::string tool_text(std::string_view text) {
    return R"({"content":[{"type":"text","text":")" + std::string(text) + "\"}]}";
  }
  // A legacy server's part of the handshake; false when the message is something else.
  static io::Task<bool> greet(net::HttpExchange& exchange, const Seen& seen, std::string session) {
    net::HttpResponse response = net::text_response(202, "");
    if (seen.request.method == "GET") response.status = 405;
    if (seen.method == "initialize") {
      response = result(seen, kHello);
      response.headers.set("Mcp-Session-Id", session);
    }
    const bool mine = seen.request.method != "POST" || seen.method == "initialize" ||
                      seen.method.starts_with("notifications/");
    if (mine) RELAY_CO_CHECK(co_await exchange.respond(std::move(response)));
    co_return mine;
  }

  io::TestLoop loop_;
  RecordingObserver observer_;
  RecordingExchange exchange_;
  HttpTarget target_;
  std::vector<Seen> seen_;
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<net::HttpClient> http_;
  std::unique_ptr<Peer> peer_;

 private:
  io::Task<void> take(net::HttpExchange& exchange) {
    Seen seen{.request = exchange.request()};
    if (seen.request.method == "POST") {
      RELAY_CO_TRY(seen.body, co_await exchange.read_body());
      seen.method = json::find_string(json::parse_object(seen.body).value(), "method").value_or("");
      seen.id = json::find_text(seen.body, "id").value_or("null");
    }
    seen_.push_back(seen);
    co_return co_await handler_(exchange, seen);
  }
  Handler handler_;
};

TEST_F(HttpPeerTest, a_lost_session_is_begun_anew_and_everything_set_before_is_set_again) {
  int sessions = 0;
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    if (seen.method == "initialize") ++sessions;
    RELAY_CO_TRY(const bool greeted, co_await greet(exchange, seen, "s" + std::to_string(sessions)));
    if (greeted) co_return Result<void>{};
    // The first session is forgotten when the first tool is called.
    net::HttpResponse response = result(seen, tool_text("from " + seen.field("Mcp-Session-Id")));
    if (seen.method == "tools/call" && seen.field("Mcp-Session-Id") == "s1")
      response = net::text_response(404, "who are you?");
    co_return co_await exchange.respond(std::move(response));
  });
  connect(EraChoice::legacy);
  ASSERT_TRUE(loop_.run(peer_->set_log_level(protocol::LogLevel::warning)));
  ASSERT_TRUE(loop_.run(peer_->watch({"a://b"})));
  seen_.clear();
  EXPECT_EQ(text_of(call(call_tool("t"))), "from s2");
  std::vector<std::string> posts;
  for (const Seen& one : seen_)
    if (one.request.method == "POST") posts.push_back(one.method);
  EXPECT_THAT(posts, ElementsAre("tools/call", "initialize", "notifications/initialized", "logging/setLevel",
                                 "resources/subscribe", "tools/call"));
  EXPECT_EQ(seen_.back().field("MCP-Protocol-Version"), "2025-11-25");
}

TEST_F(HttpPeerTest, a_session_that_is_lost_at_once_again_is_an_error) {
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    RELAY_CO_TRY(const bool greeted, co_await greet(exchange, seen, "s"));
    if (!greeted) RELAY_CO_CHECK(co_await exchange.respond(net::text_response(404, "no")));
    co_return Result<void>{};
  });
  connect(EraChoice::legacy);
  const auto answer = call(call_tool("t"));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("404"));
  EXPECT_EQ(std::ranges::count(methods(), "initialize"), 2);
}

TEST_F(HttpPeerTest, a_broken_stream_goes_on_where_it_broke) {
  std::string pending;
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    if (seen.request.method == "GET" && !seen.field("Last-Event-ID").empty()) {
      RELAY_CO_TRY(const auto stream,
                   co_await exchange.start_stream(200, {{"Content-Type", "text/event-stream"}}));
      const std::string event = "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":" + pending +
                                ",\"result\":" + tool_text("after " + seen.field("Last-Event-ID")) + "}\n\n";
      RELAY_CO_CHECK(co_await stream->write(event));
      co_return co_await stream->finish();
    }
    RELAY_CO_TRY(const bool greeted, co_await greet(exchange, seen, "s"));
    if (greeted) co_return Result<void>{};
    pending = seen.id;
    RELAY_CO_TRY(const auto stream,
                 co_await exchange.start_stream(200, {{"Content-Type", "text/event-stream"}}));
    RELAY_CO_CHECK(co_await stream->write("id: e1\nretry: 20\ndata: \n\n"));
    co_return co_await stream->finish();
  });
  connect(EraChoice::legacy);
  EXPECT_EQ(text_of(call(call_tool("t"))), "after e1");
}

TEST_F(HttpPeerTest, a_stream_that_ends_without_an_answer_and_without_ids_is_an_error) {
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    RELAY_CO_TRY(const bool greeted, co_await greet(exchange, seen, "s"));
    if (greeted) co_return Result<void>{};
    RELAY_CO_TRY(const auto stream,
                 co_await exchange.start_stream(200, {{"Content-Type", "text/event-stream"}}));
    RELAY_CO_CHECK(co_await stream->write(": hello\n\n"));
    co_return co_await stream->finish();
  });
  connect(EraChoice::legacy);
  EXPECT_THAT(text_of(call(call_tool("t"))), HasSubstr("before the answer"));
}

TEST_F(HttpPeerTest, a_question_on_the_stream_of_a_call_belongs_to_it) {
  std::string answered;
  io::Event done(loop_.executor());
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    if (seen.request.method == "POST" && seen.method.empty()) {
      answered = seen.body;
      done.set();
      co_return co_await exchange.respond(net::text_response(202, ""));
    }
    RELAY_CO_TRY(const bool greeted, co_await greet(exchange, seen, "s"));
    if (greeted) co_return Result<void>{};
    RELAY_CO_TRY(const auto stream,
                 co_await exchange.start_stream(200, {{"Content-Type", "text/event-stream"}}));
    RELAY_CO_CHECK(
        co_await stream->write("data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n"));
    RELAY_CO_CHECK(co_await done.wait());
    RELAY_CO_CHECK(co_await stream->write("data: {\"jsonrpc\":\"2.0\",\"id\":" + seen.id +
                                          ",\"result\":" + tool_text("thanks") + "}\n\n"));
    co_return co_await stream->finish();
  });
  connect(EraChoice::legacy);
  EXPECT_EQ(text_of(call(call_tool("t"))), "thanks");
  EXPECT_THAT(answered, HasSubstr(R"("id":"q","result":{"roots":)"));
}

TEST_F(HttpPeerTest, credentials_that_are_missing_are_named) {
  serve([&](net::HttpExchange& exchange, const Seen&) -> io::Task<void> {
    net::HttpResponse response = net::text_response(401, "no");
    response.headers.set("WWW-Authenticate", "Bearer realm=\"x\"");
    co_return co_await exchange.respond(std::move(response));
  });
  const auto peer = try_connect(EraChoice::probe);
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().kind, ErrorKind::unauthenticated);
  EXPECT_THAT(peer.error().message, HasSubstr("Bearer realm"));
  EXPECT_EQ(seen_.size(), 1u) << "a 401 says nothing about the era";
}

TEST_F(HttpPeerTest, whoever_has_credentials_is_asked_for_them) {
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    if (seen.field("Authorization") != "Bearer fresh")
      co_return co_await exchange.respond(net::text_response(401, "no"));
    RELAY_CO_TRY(const bool greeted, co_await greet(exchange, seen, "s"));
    if (!greeted) RELAY_CO_CHECK(co_await exchange.respond(result(seen, tool_text("in"))));
    co_return Result<void>{};
  });
  int asked = 0;
  target_.headers["Authorization"] = "Bearer stale";
  target_.on_unauthorized = [&](std::string) -> io::Task<std::map<std::string, std::string>> {
    ++asked;
    std::map<std::string, std::string> fresh{{"Authorization", "Bearer fresh"}};
    co_return fresh;
  };
  connect(EraChoice::legacy);
  EXPECT_EQ(text_of(call(call_tool("t"))), "in");
  EXPECT_EQ(asked, 1);
}

TEST_F(HttpPeerTest, another_origin_gets_neither_messages_nor_secrets) {
  HttpPeerTest::serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    net::HttpResponse response = net::text_response(307, "");
    response.headers.set("Location", "http://localhost:" + std::to_string(server_->port()) + "/stolen");
    if (seen.request.path == "/stolen") response = net::text_response(200, "{}");
    co_return co_await exchange.respond(std::move(response));
  });
  target_.headers["X-Api-Key"] = "secret";
  const auto peer = try_connect(EraChoice::probe);
  ASSERT_FALSE(peer);
  EXPECT_THAT(peer.error().message, HasSubstr("another origin"));
  for (const Seen& one : seen_) EXPECT_EQ(one.request.path, "/mcp");
}

TEST_F(HttpPeerTest, a_legacy_server_is_found_by_what_it_answers_to_the_probe) {
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    if (seen.method == "server/discover")
      co_return co_await exchange.respond(net::json_response(
          400, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}})"));
    RELAY_CO_TRY(const bool greeted, co_await greet(exchange, seen, "s"));
    if (!greeted) RELAY_CO_CHECK(co_await exchange.respond(result(seen, tool_text("old"))));
    co_return Result<void>{};
  });
  connect(EraChoice::probe);
  EXPECT_EQ(peer_->info().era(), protocol::Era::legacy);
  EXPECT_EQ(text_of(call(call_tool("t"))), "old");
}

TEST_F(HttpPeerTest, a_broken_server_says_nothing_about_the_era) {
  serve([&](net::HttpExchange& exchange, const Seen&) -> io::Task<void> {
    co_return co_await exchange.respond(net::text_response(503, "later"));
  });
  const auto peer = try_connect(EraChoice::probe);
  ASSERT_FALSE(peer);
  EXPECT_THAT(peer.error().message, HasSubstr("HTTP 503"));
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(HttpPeerTest, where_nothing_is_posted_the_oldest_way_is_tried) {
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    if (seen.request.method == "POST" && seen.request.path == "/mcp")
      co_return co_await exchange.respond(net::text_response(405, ""));
    if (seen.request.method == "POST") co_return co_await exchange.respond(net::text_response(202, ""));
    RELAY_CO_TRY(const auto stream,
                 co_await exchange.start_stream(200, {{"Content-Type", "text/event-stream"}}));
    RELAY_CO_CHECK(co_await stream->write("event: endpoint\ndata: /messages?s=1\n\n"));
    for (std::size_t handled = 0; !exchange.peer_gone().is_set();) {
      RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(5)));
      for (; handled < seen_.size(); ++handled) {
        const Seen posted = seen_[handled];
        if (posted.request.path != "/messages" || posted.id == "null") continue;
        const std::string text = posted.method == "initialize" ? std::string(kHello) : tool_text("oldest");
        RELAY_CO_CHECK(co_await stream->write("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":" +
                                              posted.id + ",\"result\":" + text + "}\n\n"));
      }
    }
    co_return Result<void>{};
  });
  connect(EraChoice::probe);
  EXPECT_EQ(text_of(call(call_tool("t"))), "oldest");
}

TEST_F(HttpPeerTest, a_modern_request_that_is_cancelled_closes_its_stream) {
  bool gone = false;
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    RELAY_CO_TRY(const auto stream,
                 co_await exchange.start_stream(200, {{"Content-Type", "text/event-stream"}}));
    RELAY_CO_CHECK(co_await stream->write(
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":" +
        seen.id + ",\"progress\":1}}\n\n"));
    RELAY_CO_CHECK(co_await exchange.peer_gone().wait());
    gone = true;
    co_return Result<void>{};
  });
  connect(EraChoice::modern);
  io::CancelSource cancel;
  const auto slow = [this]() -> io::Task<void> {
    [[maybe_unused]] const auto ignored = co_await peer_->request(call_tool("slow"), exchange_);
    co_return Result<void>{};
  };
  io::spawn(loop_.executor(), slow(), "call", cancel);
  ASSERT_TRUE(loop_.run(eventually([&] { return !exchange_.progressed.empty(); })));
  cancel.cancel();
  EXPECT_TRUE(loop_.run(eventually([&] { return gone; })));
  EXPECT_THAT(methods(), Not(Contains("notifications/cancelled")));
}

TEST_F(HttpPeerTest, modern_requests_repeat_their_names_and_marked_arguments) {
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    co_return co_await exchange.respond(result(seen, tool_text("ok")));
  });
  connect(EraChoice::modern);
  Outgoing outgoing = call_tool("weather", R"({"place":{"city":"Zürich"},"days":3,"raw":null})");
  outgoing.input_schema =
      protocol::JsonText::trusted(R"({"type":"object","properties":{"place":{"type":"object","properties":{
    "city":{"type":"string","x-mcp-header":"City"}}},"days":{"type":"integer","x-mcp-header":"Days"},"raw":{"type":"string","x-mcp-header":"Raw"}}})");
  EXPECT_EQ(text_of(call(std::move(outgoing))), "ok");
  const Seen& last = seen_.back();
  EXPECT_EQ(last.field("MCP-Protocol-Version"), "2026-07-28");
  EXPECT_EQ(last.field("Mcp-Method"), "tools/call");
  EXPECT_EQ(last.field("Mcp-Name"), "weather");
  EXPECT_EQ(last.field("Mcp-Param-Days"), "3");
  EXPECT_EQ(last.field("Mcp-Param-City"), "=?base64?WsO8cmljaA==?=");
  EXPECT_EQ(last.field("Mcp-Param-Raw"), "");
  EXPECT_EQ(last.field("Mcp-Session-Id"), "");
}

TEST_F(HttpPeerTest, closing_deletes_the_session) {
  serve([&](net::HttpExchange& exchange, const Seen& seen) -> io::Task<void> {
    RELAY_CO_CHECK(co_await greet(exchange, seen, "s7"));
    co_return Result<void>{};
  });
  connect(EraChoice::legacy);
  ASSERT_TRUE(loop_.run(peer_->close()));
  EXPECT_EQ(seen_.back().request.method, "DELETE");
  EXPECT_EQ(seen_.back().field("Mcp-Session-Id"), "s7");
}

TEST_F(HttpPeerTest, a_server_that_is_not_there_is_an_error_that_says_so) {
  serve([&](net::HttpExchange& exchange, const Seen&) -> io::Task<void> {
    co_return co_await exchange.respond(net::text_response(200, ""));
  });
  target_.endpoint = "http://127.0.0.1:1/mcp";
  const auto peer = try_connect(EraChoice::probe);
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().kind, ErrorKind::unavailable) << peer.error().message;
}

}  // namespace
}  // namespace relay::peer
