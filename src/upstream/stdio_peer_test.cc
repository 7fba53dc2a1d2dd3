// Servers that behave badly on their pipes: each is a few lines of Python, so that the failure is real.
#include <gmock/gmock.h>

#include "io/child.h"
#include "upstream/peer_fixture.h"

namespace relay::upstream {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

// hello() is a legacy server's part of the handshake; take() gives the next message.
constexpr std::string_view kPrelude = R"py(
import sys, json, os, time
def raw(text): sys.stdout.write(text); sys.stdout.flush()
def send(message): raw(json.dumps(dict(jsonrpc="2.0", **message)) + "\n")
def take():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    return json.loads(line)
def text(words): return {"content": [{"type": "text", "text": words}]}
def hello():
    while True:
        m = take()
        if m["method"] == "server/discover": send({"id": m["id"], "error": {"code": -32601, "message": "no such method"}})
        elif m["method"] == "initialize":
            send({"id": m["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
                  "serverInfo": {"name": "fake", "version": "1"}, "instructions": "be kind"}})
        elif m["method"] == "notifications/initialized": return
)py";

class StdioPeerTest : public testing::Test {
 protected:
  StdioPeerTest() { std::signal(SIGPIPE, SIG_IGN); }
  ~StdioPeerTest() override {
    peer_.reset();
    child_.reset();
    loop_.settle();
  }

  Result<std::unique_ptr<Peer>> try_connect(std::string script, PeerOptions options) {
    io::ChildSpec spec;
    spec.program = "python3";
    spec.args = {"-u", "-c", std::string(kPrelude) + script};
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    spec.err = io::Stdio::inherit;
    child_ = std::make_unique<io::Child>(io::Child::spawn(loop_.executor(), spec).value());
    return loop_.run(connect_stdio(loop_.executor(), *child_, std::move(options), observer_));
  }
  void connect(std::string script, EraChoice era = EraChoice::probe) {
    auto peer = try_connect(std::move(script), test_options(era));
    ASSERT_TRUE(peer) << peer.error().message;
    peer_ = *std::move(peer);
  }
  Result<Answer> call(Outgoing outgoing) { return loop_.run(peer_->request(std::move(outgoing), exchange_)); }

  io::TestLoop loop_;
  RecordingObserver observer_;
  RecordingExchange exchange_;
  std::unique_ptr<io::Child> child_;
  std::unique_ptr<Peer> peer_;
};

TEST_F(StdioPeerTest, a_legacy_server_is_found_by_its_refusal_and_says_who_it_is) {
  connect("hello()\nwhile True:\n  m = take()\n  send({'id': m['id'], 'result': text(json.dumps(m['params']))})");
  EXPECT_EQ(peer_->info().revision, protocol::Revision::v2025_11_25);
  EXPECT_EQ(peer_->info().instructions, "be kind");
  EXPECT_TRUE(peer_->info().can("tools"));
  Outgoing outgoing = call_tool("echo", R"({"n": 1.50})");
  outgoing.meta["traceparent"] = "00-1-2-03";
  const std::string seen = text_of(call(std::move(outgoing)));
  EXPECT_THAT(seen, HasSubstr(R"("traceparent": "00-1-2-03")"));
  EXPECT_THAT(seen, HasSubstr(R"("progressToken": )"));
}

TEST_F(StdioPeerTest, results_are_the_bytes_the_server_sent) {
  connect(R"py(
hello()
m = take()
raw('{"jsonrpc":"2.0","result": {"b":1.50,  "a":[1e3],"content":[]} ,"id":%d}\n' % m["id"])
take())py");
  const auto answer = call(call_tool("t"));
  ASSERT_TRUE(answer && *answer) << text_of(answer);
  EXPECT_EQ((*answer)->text(), R"({"b":1.50,  "a":[1e3],"content":[]})");
}

TEST_F(StdioPeerTest, noise_on_stdout_is_reported_and_does_no_harm) {
  connect(R"py(
raw("Server starting...\n\n")
hello()
m = take()
raw("debug: about to answer\n{broken\n[1,2]\n\"text\"\n")
send({"id": m["id"], "result": text("fine")})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "fine");
  EXPECT_THAT(observer_.oddities, Contains(HasSubstr("Server starting...")));
  EXPECT_THAT(observer_.oddities, Contains(HasSubstr("debug: about to answer")));
  EXPECT_THAT(observer_.oddities, Contains(HasSubstr("{broken")));
}

TEST_F(StdioPeerTest, half_a_line_waits_for_its_other_half) {
  connect(R"py(
hello()
m = take()
line = json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": text("whole")})
for c in line: raw(c)
raw("\r\n")
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "whole");
}

TEST_F(StdioPeerTest, an_answer_over_the_limit_fails_its_call_and_no_other) {
  connect(R"py(
hello()
a = take(); b = take()
raw('{"result":{"content":[],"x":"' + "y" * 10_000_000 + '"},"jsonrpc":"2.0","id":%d}\n' % a["id"])
send({"id": b["id"], "result": text("small")})
take())py");
  const auto both = [](Peer& peer, Exchange& exchange) -> io::Task<void> {
    using namespace io::asio::experimental::awaitable_operators;
    auto [large, small] = co_await (peer.request(call_tool("large"), exchange) && peer.request(call_tool("small"), exchange));
    EXPECT_THAT(text_of(large), HasSubstr("a line of 100000"));
    EXPECT_EQ(text_of(small), "small");
    co_return Result<void>{};
  };
  ASSERT_TRUE(loop_.run(both(*peer_, exchange_)));
  EXPECT_TRUE(peer_->is_open());
}

TEST_F(StdioPeerTest, answers_nobody_asked_for_and_second_answers_are_dropped) {
  connect(R"py(
hello()
m = take()
send({"id": 99999, "result": text("who?")})
send({"id": "x", "result": text("who?")})
send({"id": m["id"], "result": text("first")})
send({"id": m["id"], "result": text("second")})
m = take()
send({"id": m["id"], "result": text("next")})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "first");
  EXPECT_EQ(text_of(call(call_tool("t"))), "next");
  EXPECT_THAT(observer_.oddities, Contains(HasSubstr("99999, which was never sent")));
  EXPECT_THAT(observer_.oddities, Contains(HasSubstr("second answer")));
}

TEST_F(StdioPeerTest, a_malformed_answer_is_an_error_at_once) {
  connect(R"py(
hello()
m = take(); raw('{"jsonrpc":"2.0","id":%d,"result":{"a":1,"a":2}}\n' % m["id"])
m = take(); raw('{"jsonrpc":"2.0","id":%d,"result":{},"error":{"code":1,"message":"both"}}\n' % m["id"])
m = take(); sys.stdout.buffer.write(b'{"result":{"text":"\xff"},"jsonrpc":"2.0","id":%d}\n' % m["id"]); sys.stdout.flush()
take())py");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(text_of(call(call_tool("t"))), HasSubstr("malformed"));
}

TEST_F(StdioPeerTest, a_server_that_dies_in_mid_call_fails_the_call_and_closes_the_peer) {
  connect("hello()\ntake()\nos._exit(3)");
  EXPECT_THAT(text_of(call(call_tool("t"))), HasSubstr("ended its stdout"));
  EXPECT_FALSE(peer_->is_open());
  EXPECT_EQ(observer_.closings.size(), 1u);
  EXPECT_THAT(text_of(call(call_tool("t"))), HasSubstr("ended its stdout"));
}

TEST_F(StdioPeerTest, a_server_that_closes_stdout_but_lives_is_lost) {
  connect("hello()\ntake()\nos.close(1)\ntime.sleep(600)");
  EXPECT_THAT(text_of(call(call_tool("t"))), HasSubstr("ended its stdout"));
  EXPECT_TRUE(child_->running());
}

TEST_F(StdioPeerTest, a_server_that_ends_at_the_probe_says_what_to_do) {
  const auto peer = try_connect("take()\nsys.exit(1)", test_options());
  ASSERT_FALSE(peer);
  EXPECT_THAT(peer.error().message, HasSubstr("era \"legacy\""));
}

TEST_F(StdioPeerTest, a_probe_without_an_answer_means_legacy) {
  PeerOptions options = test_options();
  options.probe_timeout = 50ms;
  auto peer = try_connect("take()\nhello()\ntake()", options);
  ASSERT_TRUE(peer) << peer.error().message;
  EXPECT_EQ((*peer)->info().era(), protocol::Era::legacy);
  peer_ = *std::move(peer);
}

TEST_F(StdioPeerTest, an_initialize_without_an_answer_fails_in_time) {
  PeerOptions options = test_options(EraChoice::legacy);
  options.start_timeout = 50ms;
  const auto peer = try_connect("take()\ntake()", options);
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().kind, ErrorKind::timeout);
}

TEST_F(StdioPeerTest, an_unknown_revision_is_refused) {
  const auto peer = try_connect("m = take()\nsend({'id': m['id'], 'result': {'protocolVersion': '1999-01-01', 'capabilities': {}}})\ntake()",
                                test_options(EraChoice::legacy));
  ASSERT_FALSE(peer);
  EXPECT_THAT(peer.error().message, HasSubstr("1999-01-01"));
}

TEST_F(StdioPeerTest, a_call_without_an_answer_times_out_and_the_server_is_told) {
  connect(R"py(
hello()
call = take(); told = take(); m = take()
send({"id": m["id"], "result": text("%s %s" % (told["method"], told["params"]["requestId"] == call["id"]))})
take())py");
  Outgoing slow = call_tool("slow");
  slow.timeout = 50ms;
  const auto answer = call(std::move(slow));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::timeout);
  EXPECT_EQ(text_of(call(call_tool("t"))), "notifications/cancelled True");
}

TEST_F(StdioPeerTest, progress_keeps_a_call_alive_and_only_grows) {
  connect(R"py(
hello()
m = take()
token = m["params"]["_meta"]["progressToken"]
for value in (1, 2, 2, 1, 3):
    send({"method": "notifications/progress", "params": {"progressToken": token, "progress": value}})
    time.sleep(0.1)
send({"method": "notifications/progress", "params": {"progressToken": "other", "progress": 9}})
send({"id": m["id"], "result": text("done")})
take())py");
  Outgoing slow = call_tool("slow");
  slow.timeout = 30s;
  EXPECT_EQ(text_of(call(std::move(slow))), "done");
  EXPECT_THAT(exchange_.progressed, ElementsAre(1, 2, 3));
}

TEST_F(StdioPeerTest, a_cancelled_request_is_cancelled_at_the_server) {
  connect(R"py(
hello()
call = take()
send({"method": "notifications/progress", "params": {"progressToken": call["id"], "progress": 1}})
told = take(); m = take()
send({"id": m["id"], "result": text(told["method"])})
take())py");
  const auto request_once = [](Peer& peer, Exchange& exchange) -> io::Task<void> {
    [[maybe_unused]] const auto ignored = co_await peer.request(call_tool("slow"), exchange);
    co_return Result<void>{};
  };
  io::CancelSource cancel;
  io::spawn(loop_.executor(), request_once(*peer_, exchange_), "call", cancel);
  ASSERT_TRUE(loop_.run(eventually([&] { return !exchange_.progressed.empty(); })));
  cancel.cancel();
  loop_.settle();
  EXPECT_EQ(text_of(call(call_tool("t"))), "notifications/cancelled");
}

TEST_F(StdioPeerTest, questions_go_to_the_open_exchange_and_ping_is_answered_at_once) {
  connect(R"py(
hello()
m = take()
send({"id": "p", "method": "ping"}); pong = take()
send({"id": "e", "method": "elicitation/create", "params": {"message": "name?", "requestedSchema": {"type": "object", "properties": {}}}}); e = take()
send({"id": 7, "method": "roots/list"}); r = take()
send({"id": 8, "method": "no/such"}); n = take()
send({"id": m["id"], "result": text(json.dumps([pong, e, r, n]))})
take())py");
  const std::string seen = text_of(call(call_tool("t")));
  EXPECT_THAT(seen, HasSubstr(R"("id": "p", "result": {})"));
  EXPECT_THAT(seen, HasSubstr(R"("action": "accept")"));
  EXPECT_THAT(seen, HasSubstr("file:///project"));
  EXPECT_THAT(seen, HasSubstr("-32601"));
  EXPECT_THAT(exchange_.asked.front(), HasSubstr(R"("message": "name?")"));
}

TEST_F(StdioPeerTest, a_question_that_the_client_cannot_answer_is_refused) {
  exchange_.capabilities.sampling = false;
  exchange_.on_ask = [](const Question&) -> io::Task<void> { co_return fail(denied("the user said no")); };
  connect(R"py(
hello()
m = take()
send({"id": 1, "method": "sampling/createMessage", "params": {"messages": []}}); a = take()
send({"id": 2, "method": "elicitation/create", "params": {"message": "?"}}); b = take()
send({"id": m["id"], "result": text(a["error"]["message"] + " / " + b["error"]["message"])})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "the client behind this request does not support sampling / the user said no");
}

TEST_F(StdioPeerTest, a_question_with_calls_of_two_clients_open_is_refused) {
  connect(R"py(
hello()
a = take(); b = take()
send({"id": 1, "method": "roots/list"}); r = take()
send({"id": a["id"], "result": text(r["error"]["message"])})
send({"id": 2, "method": "roots/list"}); r = take()
send({"id": b["id"], "result": text(json.dumps(r["result"]))})
take())py");
  RecordingExchange other("bob");
  const auto both = [](Peer& peer, Exchange& one, Exchange& two) -> io::Task<void> {
    using namespace io::asio::experimental::awaitable_operators;
    auto [first, second] = co_await (peer.request(call_tool("a"), one) && peer.request(call_tool("b"), two));
    EXPECT_THAT(text_of(first), HasSubstr("several clients"));
    EXPECT_THAT(text_of(second), HasSubstr("file:///project"));
    co_return Result<void>{};
  };
  ASSERT_TRUE(loop_.run(both(*peer_, exchange_, other)));
  EXPECT_TRUE(exchange_.asked.empty());
  EXPECT_EQ(other.asked.size(), 1u);
}

TEST_F(StdioPeerTest, a_question_without_a_call_is_refused_with_the_reason) {
  connect(R"py(
hello()
send({"id": 1, "method": "elicitation/create", "params": {"message": "?"}}); r = take(); m = take()
send({"id": m["id"], "result": text(r["error"]["message"])})
take())py");
  ASSERT_TRUE(loop_.run(io::sleep_for(50ms)));
  EXPECT_THAT(text_of(call(call_tool("t"))), HasSubstr("no request is open"));
}

TEST_F(StdioPeerTest, without_a_client_there_are_no_roots_which_is_no_error) {
  connect(R"py(
hello()
send({"id": 1, "method": "roots/list"}); r = take()
m = take()
send({"id": 2, "method": "roots/list"}); s = take()
send({"id": m["id"], "result": text(json.dumps([r["result"], s["result"]]))})
take())py");
  ASSERT_TRUE(loop_.run(io::sleep_for(50ms)));
  SilentExchange ours;  // a list that relay asks for by itself
  EXPECT_EQ(text_of(loop_.run(peer_->request(call_tool("t"), ours))), R"([{"roots": []}, {"roots": []}])");
}

TEST_F(StdioPeerTest, questions_that_are_open_at_once_overlap) {
  io::Event second(loop_.executor());
  exchange_.on_ask = [&](const Question& question) -> io::Task<void> {
    if (question.method == "elicitation/create") co_return co_await second.wait();
    second.set();
    co_return Result<void>{};
  };
  connect(R"py(
hello()
m = take()
send({"id": "first", "method": "elicitation/create", "params": {"message": "?"}})
send({"id": "second", "method": "roots/list"})
a = take(); b = take()
send({"id": "third", "method": "roots/list"}); c = take()
send({"id": m["id"], "result": text(" ".join(sorted([a["id"], b["id"]]) + [c["id"]]))})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "first second third") << "the first is answered only after the second was asked";
}

TEST_F(StdioPeerTest, a_question_survives_the_call_that_it_was_put_to_by_mistake) {
  // Two calls of one client ask at once; nothing says which asks what, and the one that is answered first takes nobody's question with it.
  io::Event first_is_done(loop_.executor());
  exchange_.on_ask = [&](const Question& question) -> io::Task<void> {
    if (question.method == "roots/list") co_return co_await first_is_done.wait();
    co_return Result<void>{};
  };
  connect(R"py(
hello()
a = take(); b = take()
send({"id": "e", "method": "elicitation/create", "params": {"message": "?"}}); take()
send({"id": "r", "method": "roots/list"})
send({"method": "notifications/message", "params": {"level": "info", "data": "asked"}})
send({"id": b["id"], "result": text("first")})
send({"id": "late", "method": "roots/list"})
send({"id": a["id"] + 100, "result": {}})
got = sorted([take()["id"], take()["id"]])
send({"id": a["id"], "result": text(str(got))})
take())py");
  const auto both = [&](Peer& peer, Exchange& exchange) -> io::Task<void> {
    using namespace io::asio::experimental::awaitable_operators;
    const auto release = [](io::Event& event, RecordingObserver& observer) -> io::Task<void> {
      RELAY_CO_CHECK(co_await eventually([&] { return !observer.oddities.empty(); }));  // the stray answer: everything before it was taken
      event.set();
      co_return Result<void>{};
    };
    auto [one, two, released] = co_await (peer.request(call_tool("a"), exchange) && peer.request(call_tool("b"), exchange) && release(first_is_done, observer_));
    EXPECT_EQ(text_of(one), "['late', 'r']");
    EXPECT_EQ(text_of(two), "first");
    co_return Result<void>{};
  };
  ASSERT_TRUE(loop_.run(both(*peer_, exchange_)));
}

TEST_F(StdioPeerTest, questions_that_came_together_are_one_round_for_who_is_asked_in_rounds) {
  exchange_.in_rounds = true;
  connect(R"py(
hello()
m = take()
sys.stdout.write("".join(json.dumps({"jsonrpc": "2.0", "id": i, "method": "roots/list"}) + "\n" for i in range(3))); sys.stdout.flush()
ids = [take()["id"] for i in range(3)]
send({"id": m["id"], "result": text(str(ids))})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "[0, 1, 2]");
  EXPECT_EQ(exchange_.rounds, 1);
}

TEST_F(StdioPeerTest, a_question_that_is_taken_back_does_not_hold_up_another) {
  exchange_.on_ask = [](const Question& question) -> io::Task<void> {
    if (question.method == "elicitation/create") co_return co_await io::sleep_for(std::chrono::hours(1));
    co_return Result<void>{};
  };
  connect(R"py(
hello()
m = take()
send({"id": 1, "method": "elicitation/create", "params": {"message": "?"}})
send({"id": 2, "method": "roots/list"}); a = take()
send({"method": "notifications/cancelled", "params": {"requestId": 1}})
send({"id": 3, "method": "roots/list"}); b = take()
send({"id": m["id"], "result": text(f'{a["id"]} {b["id"]}')})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "2 3");
}

TEST_F(StdioPeerTest, a_call_that_is_cancelled_takes_its_open_questions_with_it) {
  int unwound = 0;
  exchange_.on_ask = [&](const Question&) -> io::Task<void> {
    struct Unwound { int& count; ~Unwound() { ++count; } } note{unwound};
    co_return co_await io::sleep_for(std::chrono::hours(1));
  };
  connect(R"py(
hello()
m = take()
send({"id": 1, "method": "roots/list"})
send({"id": 2, "method": "elicitation/create", "params": {"message": "?"}})
while True: take())py");
  io::CancelSource cancel;
  bool ended = false;
  const auto work = [&]() -> io::Task<void> {
    struct Ended { bool& flag; ~Ended() { flag = true; } } note{ended};
    [[maybe_unused]] const auto answer = co_await peer_->request(call_tool("t"), exchange_);
    co_return Result<void>{};
  };
  io::spawn(loop_.executor(), work(), "call", cancel);
  ASSERT_TRUE(loop_.run(eventually([&] { return exchange_.asked.size() == 2; })));
  cancel.cancel();
  ASSERT_TRUE(loop_.run(eventually([&] { return ended; })));
  EXPECT_EQ(unwound, 2) << "nobody asks on behalf of a request that is gone";
}

TEST_F(StdioPeerTest, an_answer_ends_the_question_that_is_still_open) {
  exchange_.on_ask = [](const Question&) -> io::Task<void> { co_return co_await io::sleep_for(std::chrono::hours(1)); };
  connect(R"py(
hello()
m = take()
send({"id": 1, "method": "roots/list"})
send({"method": "notifications/progress", "params": {"progressToken": m["id"], "progress": 1}})
send({"id": m["id"], "result": text("never mind")})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "never mind");
}

TEST_F(StdioPeerTest, pages_to_visit_are_asked_for_and_the_call_is_tried_again) {
  connect(R"py(
hello()
m = take()
send({"id": m["id"], "error": {"code": -32042, "message": "visit", "data": {"elicitations": [
  {"mode": "url", "elicitationId": "e1", "url": "https://example.com/pay", "message": "pay"}]}}})
m = take()
send({"id": m["id"], "result": text("paid")})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "paid");
  EXPECT_THAT(exchange_.asked, ElementsAre(HasSubstr("https://example.com/pay")));
}

TEST_F(StdioPeerTest, a_server_that_does_not_read_is_given_up_to_a_limit) {
  connect("hello()\ntime.sleep(600)");
  Outgoing large = call_tool("t", R"({"x":")" + std::string(6'000'000, 'x') + "\"}");
  const auto send_one = [](Peer& peer, Exchange& exchange, Outgoing outgoing) -> io::Task<void> {
    [[maybe_unused]] const auto ignored = co_await peer.request(std::move(outgoing), exchange);
    co_return Result<void>{};
  };
  io::CancelSource cancel, cancel2;
  io::spawn(loop_.executor(), send_one(*peer_, exchange_, large), "call", cancel);
  io::spawn(loop_.executor(), send_one(*peer_, exchange_, large), "call", cancel2);
  loop_.settle();
  const auto refused = call(large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::busy);
  cancel.cancel();
  cancel2.cancel();
  loop_.settle();
}

TEST_F(StdioPeerTest, news_and_logs_reach_the_observer_when_no_call_is_open) {
  connect(R"py(
hello()
send({"method": "notifications/tools/list_changed"})
send({"method": "notifications/prompts/list_changed"})
send({"method": "notifications/resources/updated", "params": {"uri": "a://b"}})
send({"method": "notifications/message", "params": {"level": "warning", "logger": "x", "data": {"a": 1}}})
take())py");
  ASSERT_TRUE(loop_.run(eventually([&] { return !observer_.logged.empty(); })));
  EXPECT_THAT(observer_.changed, ElementsAre(ListKind::tools, ListKind::prompts));
  EXPECT_THAT(observer_.updated, ElementsAre("a://b"));
  EXPECT_THAT(observer_.logged, ElementsAre(R"({"a":1})"));
}

TEST_F(StdioPeerTest, logs_during_a_call_belong_to_it) {
  connect(R"py(
hello()
m = take()
send({"method": "notifications/message", "params": {"level": "info", "data": "hi"}})
send({"id": m["id"], "result": text("ok")})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "ok");
  EXPECT_THAT(exchange_.logged, ElementsAre("\"hi\""));
  EXPECT_TRUE(observer_.logged.empty());
}

TEST_F(StdioPeerTest, closing_ends_stdin_and_the_server_goes) {
  connect("hello()\ntake()");
  ASSERT_TRUE(loop_.run(peer_->close()));
  const auto status = loop_.run(child_->wait());
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->clean());
  EXPECT_FALSE(loop_.run(peer_->request(call_tool("t"), exchange_)));
}

TEST_F(StdioPeerTest, a_peer_that_goes_fails_what_is_open) {
  connect("hello()\ntake()\ntime.sleep(600)");
  std::optional<Result<Answer>> outcome;
  const auto wait = [](Peer& peer, Exchange& exchange, std::optional<Result<Answer>>& out) -> io::Task<void> {
    out = co_await peer.request(call_tool("t"), exchange);
    co_return Result<void>{};
  };
  io::spawn(loop_.executor(), wait(*peer_, exchange_, outcome), "call");
  loop_.settle();
  peer_.reset();
  loop_.settle();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().kind, ErrorKind::cancelled);
}

}  // namespace
}  // namespace relay::upstream
