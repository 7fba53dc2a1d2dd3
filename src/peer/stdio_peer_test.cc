// Servers that behave badly on their pipes.
#include <gmock/gmock.h>

#include "peer/stdio_peer_fixture.h"

namespace relay::peer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST_F(StdioPeerTest, a_legacy_server_is_found_by_its_refusal_and_says_who_it_is) {
  connect(
      "hello()\nwhile True:\n  m = take()\n  send({'id': m['id'], 'result': text(json.dumps(m['params']))})");
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
  const auto both = [](Peer& peer, RequestScope& exchange) -> io::Task<void> {
    std::optional<Result<PeerAnswer>> large;
    std::optional<Result<PeerAnswer>> small;
    RELAY_CO_CHECK(co_await io::both(io::store_result(peer.request(call_tool("large"), exchange), large),
                                     io::store_result(peer.request(call_tool("small"), exchange), small)));
    EXPECT_THAT(text_of(*large), HasSubstr("a line of 100000"));
    EXPECT_EQ(text_of(*small), "small");
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
  const auto peer = try_connect(
      "m = take()\nsend({'id': m['id'], 'result': {'protocolVersion': '1999-01-01', 'capabilities': "
      "{}}})\ntake()",
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
  const auto request_once = [](Peer& peer, RequestScope& exchange) -> io::Task<void> {
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

TEST_F(StdioPeerTest, a_server_that_does_not_read_is_given_up_to_a_limit) {
  connect("hello()\ntime.sleep(600)");
  Outgoing large = call_tool("t", R"({"x":")" + std::string(6'000'000, 'x') + "\"}");
  const auto send_one = [](Peer& peer, RequestScope& exchange, Outgoing outgoing) -> io::Task<void> {
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
  std::optional<Result<PeerAnswer>> outcome;
  const auto wait = [](Peer& peer, RequestScope& exchange,
                       std::optional<Result<PeerAnswer>>& out) -> io::Task<void> {
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

TEST_F(StdioPeerTest, a_task_is_looked_at_at_once_whatever_pause_the_server_wishes) {
  connect(R"py(
hello()
m = take()
task = {"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": None, "pollInterval": 30000}
send({"id": m["id"], "result": {"task": task}})
for status in ["working", "working", "completed"]:
    m = take(); send({"id": m["id"], "result": dict(task, status=status)})
m = take(); send({"id": m["id"], "result": text(m["method"])})
take())py");
  Outgoing outgoing = call_tool("t");
  outgoing.as_task = true;
  const auto answer =
      loop_.run(io::with_timeout(peer_->request(std::move(outgoing), exchange_), 25s, "the task"));
  EXPECT_EQ(text_of(answer), "tasks/result") << "one pause of the server would be longer than the limit";
  EXPECT_EQ(exchange_.tasks, 1);
}

}  // namespace
}  // namespace relay::peer
