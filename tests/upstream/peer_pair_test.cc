// Relay's client and Relay's server, face to face: over pipes (this very program, started again as the
// server), streamable HTTP in both eras, and HTTP+SSE.
#include <unistd.h>

#include <csignal>

#include <gmock/gmock.h>

#include "fixtures.h"
#include "mcp/sse_legacy.h"
#include "mcp/stdio.h"
#include "mcp/streamable_http.h"
#include "net/http_server.h"
#include "peer/peer_fixture.h"

namespace relay::peer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// A server with everything that the suite wants to see.
class Fixtures {
 public:
  explicit Fixtures(const io::Loop& executor)
      : catalogue_(identity()), server_(executor, catalogue_, clock_, random_, {}) {
    EXPECT_TRUE(conformance::add_content_tools(catalogue_));
    EXPECT_TRUE(conformance::add_asking_tools(catalogue_));
    EXPECT_TRUE(conformance::add_task_tools(catalogue_));
    EXPECT_TRUE(conformance::add_changing_tools(catalogue_));
    conformance::add_resources(catalogue_);
    conformance::add_prompts(catalogue_);
  }
  mcp::Server& server() { return server_; }

 private:
  static serving::Identity identity() {
    serving::Identity identity;
    identity.info.name = "fixtures";
    identity.info.version = "1";
    identity.instructions = "be kind";
    identity.capabilities.resources = identity.capabilities.resource_subscriptions = true;
    identity.capabilities.prompts = identity.capabilities.completions = identity.capabilities.tasks = true;
    return identity;
  }
  SystemClock clock_;
  SystemRandom random_;
  mcp::Catalogue catalogue_;
  mcp::Server server_;
};

enum class Way { stdio_legacy, stdio_modern, http_legacy, http_modern, sse };

std::string name_of_way(const testing::TestParamInfo<Way>& info) {
  constexpr const char* kNames[] = {"stdio_legacy", "stdio_modern", "http_legacy", "http_modern", "sse"};
  return kNames[static_cast<int>(info.param)];
}

class PeerPairTest : public testing::TestWithParam<Way> {
 protected:
  PeerPairTest() {
    std::signal(SIGPIPE, SIG_IGN);
    auto peer = connect();
    EXPECT_TRUE(peer) << peer.error().message;
    if (peer) peer_ = *std::move(peer);
  }
  ~PeerPairTest() override {
    if (peer_) EXPECT_TRUE(loop_.run(peer_->close()));
    peer_.reset();
    child_.reset();
    if (http_server_) {
      fixtures_->server().stop();
      EXPECT_TRUE(loop_.run(http_server_->stop(std::chrono::milliseconds(200))));
    }
    loop_.settle();
  }
  void SetUp() override {
    if (!peer_) FAIL() << "no connection";
  }

  [[nodiscard]] bool modern() const {
    return GetParam() == Way::stdio_modern || GetParam() == Way::http_modern;
  }
  Result<PeerAnswer> request(std::string method, std::string params) {
    Outgoing outgoing;
    outgoing.method = std::move(method);
    outgoing.params = std::move(params);
    return loop_.run(peer_->request(std::move(outgoing), exchange_));
  }
  Result<PeerAnswer> call(std::string_view name, std::string_view arguments = "{}") {
    return loop_.run(peer_->request(call_tool(name, arguments), exchange_));
  }

  io::TestLoop loop_;
  RecordingObserver observer_;
  RecordingExchange exchange_;
  std::unique_ptr<Fixtures> fixtures_;
  std::unique_ptr<net::HttpServer> http_server_;
  std::unique_ptr<net::HttpClient> http_;
  std::unique_ptr<mcp::StreamableHttp> streamable_;
  std::unique_ptr<mcp::SseLegacy> sse_;
  std::unique_ptr<io::Child> child_;
  std::unique_ptr<Peer> peer_;

 private:
  Result<std::unique_ptr<Peer>> connect() {
    const bool stdio = GetParam() == Way::stdio_legacy || GetParam() == Way::stdio_modern;
    PeerOptions options = test_options(modern() ? EraChoice::probe : EraChoice::legacy);
    return stdio ? connect_child(std::move(options)) : connect_loopback(std::move(options));
  }
  Result<std::unique_ptr<Peer>> connect_child(PeerOptions options) {
    io::ChildSpec spec;
    spec.program = std::filesystem::read_symlink("/proc/self/exe").string();
    spec.args = {"--serve-stdio"};
    spec.err = io::Stdio::inherit;
    child_ = std::make_unique<io::Child>(io::Child::spawn(loop_.executor(), spec).value());
    return loop_.run(connect_stdio(loop_.executor(), *child_, std::move(options), observer_));
  }
  Result<std::unique_ptr<Peer>> connect_loopback(PeerOptions options) {
    fixtures_ = std::make_unique<Fixtures>(loop_.executor());
    streamable_ = std::make_unique<mcp::StreamableHttp>(fixtures_->server());
    sse_ = std::make_unique<mcp::SseLegacy>(fixtures_->server(), "/messages");
    const auto handler = [this](net::HttpExchange& exchange) -> io::Task<void> {
      if (exchange.request().path == "/mcp") return streamable_->serve(exchange, "alice");
      if (exchange.request().path == "/sse") return sse_->serve_stream(exchange, "alice");
      return sse_->serve_message(exchange, "alice");
    };
    http_server_ = net::HttpServer::open(loop_.executor(), {}, handler).value();
    http_ = net::HttpClient::make(loop_.executor());
    HttpTarget target;
    target.old_sse = GetParam() == Way::sse;
    target.endpoint =
        "http://127.0.0.1:" + std::to_string(http_server_->port()) + (target.old_sse ? "/sse" : "/mcp");
    return loop_.run(
        connect_http(loop_.executor(), *http_, std::move(target), std::move(options), observer_));
  }
};

TEST_P(PeerPairTest, says_who_it_is) {
  EXPECT_EQ(peer_->info().era(), modern() ? protocol::Era::modern : protocol::Era::legacy);
  EXPECT_EQ(json::find_string(peer_->info().server, "name"), "fixtures");
  EXPECT_TRUE(peer_->info().can("resources"));
  EXPECT_EQ(peer_->info().instructions, "be kind");
}

TEST_P(PeerPairTest, calls_tools_and_reads) {
  EXPECT_EQ(text_of(call("test_simple_text")), "This is a simple text response for testing.");
  EXPECT_THAT(text_of(request("resources/read", R"({"uri":"test://static-text"})")),
              HasSubstr("test://static-text"));
  EXPECT_THAT(text_of(request("prompts/list", "{}")), HasSubstr("test_simple_prompt"));
  const auto unknown = request("resources/read", R"({"uri":"test://nothing"})");
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
}

TEST_P(PeerPairTest, passes_arguments_on_as_they_are_spelled) {
  EXPECT_THAT(text_of(call("show_arguments", R"({"b":1.50, "a" : [1e3]})")),
              HasSubstr(R"("b":1.50, "a" : [1e3])"));
}

TEST_P(PeerPairTest, hears_of_progress) {
  EXPECT_FALSE(text_of(call("test_tool_with_progress")).empty());
  EXPECT_THAT(exchange_.progressed, ElementsAre(0, 50, 100));
}

TEST_P(PeerPairTest, hears_logs_of_its_own_call) {
  exchange_.level = protocol::LogLevel::debug;
  ASSERT_TRUE(loop_.run(peer_->set_log_level(protocol::LogLevel::debug)));
  EXPECT_FALSE(text_of(call("test_tool_with_logging")).empty());
  EXPECT_EQ(exchange_.logged.size(), 3u);
}

TEST_P(PeerPairTest, answers_questions) {
  if (modern()) {
    EXPECT_EQ(text_of(call("test_input_required_result_elicitation")), "Hello, Ann!");
    EXPECT_EQ(text_of(call("test_input_required_result_sampling")), "sampled");
    EXPECT_EQ(text_of(call("test_input_required_result_multi_round")), "Ann likes blue");
  } else {
    EXPECT_EQ(text_of(call("test_sampling", R"({"prompt":"p"})")), "LLM response: sampled");
    EXPECT_THAT(text_of(call("test_elicitation", R"({"message":"m"})")), HasSubstr("action=accept"));
  }
  EXPECT_GE(exchange_.asked.size(), 2u);
}

TEST_P(PeerPairTest, refuses_what_its_client_cannot_answer) {
  exchange_.capabilities = {};
  const auto answer =
      call(modern() ? "test_input_required_result_elicitation" : "test_elicitation", R"({"message":"m"})");
  EXPECT_TRUE(exchange_.asked.empty());
  const bool succeeded =
      answer && *answer && !json::find_bool((*answer)->value().as_object(), "isError").value_or(false);
  EXPECT_FALSE(succeeded) << text_of(answer);
}

TEST_P(PeerPairTest, hears_that_lists_change) {
  ASSERT_TRUE(loop_.run(io::sleep_for(std::chrono::milliseconds(100))));
  // The stream for news opens on its own: what happens before it is open is not told.
  const auto told = [this]() -> io::Task<void> {
    for (int i = 0; i < 100 && observer_.changed.empty(); ++i) {
      RELAY_CO_CHECK(co_await peer_->request(call_tool("test_trigger_tool_change"), exchange_));
      RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(50)));
    }
    co_return Result<void>{};
  };
  ASSERT_TRUE(loop_.run(told()));
  EXPECT_THAT(observer_.changed, Contains(ListKind::tools));
}

TEST_P(PeerPairTest, watches_resources) {
  const auto told = [this](std::string uri) -> io::Task<void> {
    const auto before = observer_.updated.size();
    for (int i = 0; i < 100 && observer_.updated.size() == before; ++i) {
      RELAY_CO_CHECK(
          co_await peer_->request(call_tool("test_update_resource", R"({"uri":")" + uri + "\"}"), exchange_));
      RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(50)));
    }
    co_return Result<void>{};
  };
  const auto watched = loop_.run(peer_->watch({"test://watched-resource"}));
  ASSERT_TRUE(watched) << watched.error().message;
  ASSERT_TRUE(loop_.run(told("test://watched-resource")));
  EXPECT_THAT(observer_.updated, Contains("test://watched-resource"));
  ASSERT_TRUE(loop_.run(peer_->watch({"test://static-text"})));
  ASSERT_TRUE(loop_.run(told("test://static-text")));
  EXPECT_THAT(observer_.updated, Contains("test://static-text"));
  observer_.updated.clear();
  ASSERT_TRUE(loop_.run(
      peer_->request(call_tool("test_update_resource", R"({"uri":"test://watched-resource"})"), exchange_)));
  ASSERT_TRUE(loop_.run(told("test://static-text")));
  EXPECT_THAT(observer_.updated, testing::Not(Contains("test://watched-resource")));
}

TEST_P(PeerPairTest, follows_tasks_to_their_end) {
  Outgoing outgoing = call_tool("slow_compute", R"({"seconds":0.2,"label":"sum"})");
  exchange_.capabilities.tasks = true;
  outgoing.as_task = !modern();
  const auto answer = loop_.run(peer_->request(std::move(outgoing), exchange_));
  EXPECT_EQ(text_of(answer), "sum done");
  EXPECT_THAT(std::string((*answer)->text()), testing::Not(testing::HasSubstr("related-task")))
      << "the task is ours alone";
  EXPECT_EQ(exchange_.tasks, 1);
}

TEST_P(PeerPairTest, answers_questions_of_tasks) {
  Outgoing outgoing = call_tool("multi_input");
  exchange_.capabilities.tasks = true;
  outgoing.as_task = !modern();
  EXPECT_EQ(text_of(loop_.run(peer_->request(std::move(outgoing), exchange_))), "Ann and Ann");
  EXPECT_EQ(exchange_.asked.size(), 2u);
}

TEST_P(PeerPairTest, runs_many_calls_at_once) {
  int done = 0;
  const auto one = [this](int& count) -> io::Task<void> {
    RecordingExchange own;
    auto answer = co_await peer_->request(call_tool("test_simple_text"), own);
    EXPECT_EQ(text_of(answer), "This is a simple text response for testing.");
    ++count;
    co_return Result<void>{};
  };
  for (int i = 0; i < 50; ++i) io::spawn(loop_.executor(), one(done), "call");
  EXPECT_TRUE(loop_.run(eventually([&] { return done == 50; })));
}

TEST_P(PeerPairTest, forgets_a_cancelled_call) {
  io::CancelSource cancel;
  const auto slow = [this]() -> io::Task<void> {
    [[maybe_unused]] const auto ignored =
        co_await peer_->request(call_tool("slow_compute", R"({"seconds":3600,"label":"x"})"), exchange_);
    co_return Result<void>{};
  };
  io::spawn(loop_.executor(), slow(), "call", cancel);
  EXPECT_EQ(text_of(call("test_simple_text")), "This is a simple text response for testing.");
  cancel.cancel();
  EXPECT_EQ(text_of(call("test_simple_text")), "This is a simple text response for testing.");
  EXPECT_TRUE(peer_->is_open());
}

INSTANTIATE_TEST_SUITE_P(Ways, PeerPairTest,
                         testing::Values(Way::stdio_legacy, Way::stdio_modern, Way::http_legacy,
                                         Way::http_modern, Way::sse),
                         name_of_way);

int serve_stdio_here() {
  io::asio::io_context loop(1);
  Fixtures fixtures(loop.get_executor());
  io::asio::posix::stream_descriptor in(loop, ::dup(STDIN_FILENO));
  io::asio::posix::stream_descriptor out(loop, ::dup(STDOUT_FILENO));
  auto serve = [&]() -> io::Task<void> {
    authority::Caller caller{.principal = "local", .transport = authority::Transport::stdio};
    auto served = co_await mcp::serve_stdio(fixtures.server(), in, out, std::move(caller));
    fixtures.server().stop();
    co_return served;
  };
  io::spawn(loop.get_executor(), serve(), "stdio");
  loop.run();
  return 0;
}

}  // namespace
}  // namespace relay::peer

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--serve-stdio") return relay::peer::serve_stdio_here();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
