// What a legacy server asks in mid-call: whose question it is, several at once, and what becomes of those
// that nobody answers.
#include <gmock/gmock.h>

#include "peer/stdio_peer_fixture.h"

namespace relay::peer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

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
  EXPECT_EQ(text_of(call(call_tool("t"))),
            "the client behind this request does not support sampling / the user said no");
}

// A server that hears of the refusal first may give up, and the question beside it would be lost.
class RefusalTest : public StdioPeerTest {
 protected:
  RefusalTest() {
    exchange_.in_rounds = true;
    exchange_.capabilities.sampling = false;
    exchange_.on_ask = [](const Question&) -> io::Task<void> { co_return co_await io::sleep_for(100ms); };
  }
};

TEST_F(RefusalTest, in_a_round_a_refusal_arrives_with_the_answers) {
  connect(R"py(
hello()
m = take()
send({"id": 1, "method": "sampling/createMessage", "params": {"messages": []}})
send({"id": 2, "method": "elicitation/create", "params": {"message": "?"}})
a = take(); b = take()
send({"id": 3, "method": "sampling/createMessage", "params": {"messages": []}}); c = take()
send({"id": m["id"], "result": text("%s %s, %s %s, %s" % (a["id"], "result" in a, b["id"], "error" in b, "error" in c))})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "2 True, 1 True, True");
  EXPECT_EQ(exchange_.asked.size(), 1u);
}

TEST_F(RefusalTest, it_waits_for_what_is_asked_a_little_earlier_or_later) {
  connect(R"py(
import time
hello()
m = take()
send({"id": 1, "method": "sampling/createMessage", "params": {"messages": []}}); time.sleep(0.01)
send({"id": 2, "method": "elicitation/create", "params": {"message": "?"}})
a = take(); b = take()
send({"id": 3, "method": "elicitation/create", "params": {"message": "?"}}); time.sleep(0.01)
send({"id": 4, "method": "sampling/createMessage", "params": {"messages": []}})
c = take(); d = take()
send({"id": m["id"], "result": text("%s %s, %s %s" % (a["id"], b["id"], c["id"], d["id"]))})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "2 1, 3 4");
  EXPECT_EQ(exchange_.asked.size(), 2u);
}

// Two requests at once, for two clients.
struct Pair {
  std::string first, second;
};
io::Task<Pair> call_both(Peer& peer, std::string tool, RequestScope& one, RequestScope& two) {
  std::optional<Result<PeerAnswer>> first;
  std::optional<Result<PeerAnswer>> second;
  RELAY_CO_CHECK(co_await io::both(io::store_result(peer.request(call_tool(tool), one), first),
                                   io::store_result(peer.request(call_tool(tool), two), second)));
  co_return Pair{text_of(*first), text_of(*second)};
}

TEST_F(StdioPeerTest, a_question_waits_until_only_one_client_can_have_raised_it) {
  connect(R"py(
hello()
a = take(); b = take()
send({"id": 1, "method": "roots/list"})
send({"id": a["id"], "result": text("first")})
r = take()
send({"id": b["id"], "result": text(json.dumps(r["result"]))})
take())py");
  RecordingExchange other("bob");
  const auto answers = loop_.run(call_both(*peer_, "t", exchange_, other));
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->first, "first");
  EXPECT_THAT(answers->second, HasSubstr("file:///project"));
  EXPECT_TRUE(exchange_.asked.empty());
  EXPECT_EQ(other.asked.size(), 1u);
}

TEST_F(StdioPeerTest, a_tool_that_asks_is_called_for_one_client_at_a_time) {
  connect(R"py(
hello()
def ask(m):
    send({"id": 1, "method": "elicitation/create", "params": {"message": "?"}})
    r = take()
    send({"id": m["id"], "result": text("method" if "method" in r else r["result"]["action"])})
ask(take())
ask(take()); ask(take())
take())py");
  ASSERT_EQ(text_of(call(call_tool("t"))), "accept");
  RecordingExchange other("bob");
  const auto answers = loop_.run(call_both(*peer_, "t", exchange_, other));
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->first, "accept");
  EXPECT_EQ(answers->second, "accept") << "the second call comes when the first was answered";
  EXPECT_EQ(other.asked.size(), 1u);
}

TEST_F(StdioPeerTest, a_question_just_before_the_answer_is_answered_too) {
  exchange_.in_rounds = true;
  connect(R"py(
hello()
m = take()
send({"id": 1, "method": "elicitation/create", "params": {"message": "?"}})
send({"id": m["id"], "result": text("done")})
r = take(); m = take()
send({"id": m["id"], "result": text(r["error"]["message"])})
take())py");
  EXPECT_EQ(text_of(call(call_tool("t"))), "done");
  EXPECT_THAT(text_of(call(call_tool("t"))), HasSubstr("no request is open"));
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
  SilentScope ours;  // a list that relay asks for by itself
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
  EXPECT_EQ(text_of(call(call_tool("t"))), "first second third")
      << "the first is answered only after the second was asked";
}

TEST_F(StdioPeerTest, a_question_survives_the_call_that_it_was_put_to_by_mistake) {
  // Two calls of one client ask at once; nothing says which asks what, and the one that is answered first
  // takes nobody's question with it.
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
  const auto both = [&](Peer& peer, RequestScope& exchange) -> io::Task<void> {
    const auto release = [](io::Event& event, RecordingObserver& observer) -> io::Task<void> {
      RELAY_CO_CHECK(co_await eventually(
          [&] { return !observer.oddities.empty(); }));  // the stray answer: everything before it was taken
      event.set();
      co_return Result<void>{};
    };
    std::optional<Result<PeerAnswer>> one;
    std::optional<Result<PeerAnswer>> two;
    RELAY_CO_CHECK(co_await io::both(io::both(io::store_result(peer.request(call_tool("a"), exchange), one),
                                              io::store_result(peer.request(call_tool("b"), exchange), two)),
                                     release(first_is_done, observer_)));
    EXPECT_EQ(text_of(*one), "['late', 'r']");
    EXPECT_EQ(text_of(*two), "first");
    co_return Result<void>{};
  };
  ASSERT_TRUE(loop_.run(both(*peer_, exchange_)));
}

TEST_F(StdioPeerTest, questions_that_came_together_are_one_round_for_who_is_asked_in_rounds) {
  exchange_.in_rounds = true;
  connect(R"py(
import time
hello()
m = take()
for i in range(3): time.sleep(0.01); send({"id": i, "method": "roots/list"})
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
    struct Unwound {
      int& count;
      ~Unwound() { ++count; }
    } note{unwound};
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
    struct Ended {
      bool& flag;
      ~Ended() { flag = true; }
    } note{ended};
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
  exchange_.on_ask = [](const Question&) -> io::Task<void> {
    co_return co_await io::sleep_for(std::chrono::hours(1));
  };
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

}  // namespace
}  // namespace relay::peer
