// Whose question it is, who waits for whom, and that each question gets exactly one answer. No wire.
#include "peer/server_questions.h"

#include <gmock/gmock.h>

#include "peer/peer_fixture.h"

namespace relay::peer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Ending = AskedRequest::Ending;

class FakeChannel final : public QuestionChannel {
 public:
  void send_answer(std::string message) override { sent.push_back(std::move(message)); }
  void deadline_moved(AskedRequest& request) override { being_asked.push_back(request.is_being_asked()); }
  std::vector<std::string> sent;
  std::vector<bool> being_asked;
};

protocol::Request question(int id, std::string_view method) {
  const std::string params = method == "roots/list" ? "{}" : R"({"message":"?","messages":[]})";
  auto parsed = protocol::parse_message(protocol::write_request(protocol::Id::number(id), method, params));
  return std::get<protocol::Request>(*std::move(parsed));
}

class ServerQuestionsTest : public testing::Test {
 protected:
  void tend(AskedRequest& request) { io::spawn(loop_.executor(), request.tend(), "questions"); }
  void wait_for_answers(std::size_t count) {
    ASSERT_TRUE(loop_.run(eventually([&] { return channel_.sent.size() >= count; })));
  }

  io::TestLoop loop_;
  FakeChannel channel_;
  ServerQuestions questions_{loop_.executor(), channel_};
  RecordingExchange alice_{"alice"};
  RecordingExchange bob_{"bob"};
};

TEST_F(ServerQuestionsTest, what_the_client_cannot_answer_is_refused_and_the_request_stays_open) {
  alice_.capabilities = {};
  AskedRequest request(questions_, alice_, "tools/call echo");
  int id = 0;
  for (const char* method : {"roots/list", "sampling/createMessage", "elicitation/create"})
    questions_.take_unaddressed(question(++id, method));
  EXPECT_THAT(channel_.sent, testing::Each(HasSubstr("does not support")));
  EXPECT_EQ(channel_.sent.size(), 3u);
  EXPECT_FALSE(request.has_waiting());
  EXPECT_TRUE(alice_.asked.empty());
}

TEST_F(ServerQuestionsTest, a_question_is_answered_and_the_deadline_told_when_it_began_and_ended) {
  AskedRequest request(questions_, alice_);
  questions_.take_unaddressed(question(1, "roots/list"));
  tend(request);
  wait_for_answers(1);
  EXPECT_THAT(channel_.sent, ElementsAre(AllOf(HasSubstr(R"("id":1)"), HasSubstr("file:///project"))));
  EXPECT_THAT(channel_.being_asked, ElementsAre(true, false));
  request.end(Ending::answered);
  loop_.settle();
}

TEST_F(ServerQuestionsTest, with_two_clients_open_it_waits_for_the_answer_to_one_of_them) {
  AskedRequest innocent(questions_, alice_, "tools/call echo");
  AskedRequest asking(questions_, bob_, "tools/call ask");
  questions_.take_unaddressed(question(1, "elicitation/create"));
  EXPECT_THAT(channel_.sent, IsEmpty());
  EXPECT_FALSE(asking.has_waiting());
  innocent.end(Ending::answered);
  EXPECT_TRUE(asking.has_waiting());
}

TEST_F(ServerQuestionsTest, one_that_a_vanished_request_may_have_raised_is_put_to_nobody_else) {
  AskedRequest other(questions_, bob_, "tools/call echo");
  {
    AskedRequest cancelled(questions_, alice_, "tools/call ask");
    questions_.take_unaddressed(question(1, "elicitation/create"));
  }
  EXPECT_FALSE(other.has_waiting());
  EXPECT_THAT(channel_.sent, ElementsAre(HasSubstr("several clients")));
}

TEST_F(ServerQuestionsTest, two_clients_that_may_wait_for_each_other_are_refused_and_take_turns_later) {
  const std::string subject = ServerQuestions::subject_of("tools/call", R"({"name":"ask","arguments":{}})");
  {
    AskedRequest one(questions_, alice_, subject);
    EXPECT_FALSE(questions_.must_wait(bob_, subject)) << "nothing is known of the tool yet";
    AskedRequest two(questions_, bob_, subject);
    questions_.take_unaddressed(question(1, "elicitation/create"));
    EXPECT_THAT(channel_.sent, IsEmpty());
    questions_.take_unaddressed(question(2, "elicitation/create"));
    EXPECT_THAT(channel_.sent, ElementsAre(HasSubstr("several clients"), HasSubstr("several clients")));
  }
  AskedRequest one(questions_, alice_, subject);
  EXPECT_TRUE(questions_.must_wait(bob_, subject));
  EXPECT_FALSE(questions_.must_wait(alice_, subject)) << "calls of one client need no turns";
  EXPECT_FALSE(questions_.must_wait(bob_, "tools/call echo"));
  one.end(Ending::answered);
  EXPECT_FALSE(questions_.must_wait(bob_, subject));
}

TEST_F(ServerQuestionsTest, one_that_is_taken_back_while_it_waits_gets_no_answer) {
  AskedRequest one(questions_, alice_);
  AskedRequest two(questions_, bob_);
  questions_.take_unaddressed(question(1, "elicitation/create"));
  questions_.retract(protocol::Id::number(1));
  one.end(Ending::answered);
  EXPECT_FALSE(two.has_waiting());
  EXPECT_THAT(channel_.sent, IsEmpty());
}

TEST_F(ServerQuestionsTest, one_on_the_stream_of_a_request_that_has_ended_is_put_to_no_other) {
  AskedRequest open(questions_, alice_);
  questions_.take_addressed(question(1, "elicitation/create"), nullptr);
  questions_.take_addressed(question(2, "roots/list"), nullptr);
  EXPECT_FALSE(open.has_waiting());
  EXPECT_THAT(channel_.sent, ElementsAre(HasSubstr("has ended"), HasSubstr(R"("roots":[])")));
}

TEST_F(ServerQuestionsTest, a_request_that_ends_while_our_side_works_leaves_no_question_without_an_answer) {
  alice_.on_ask = [](const Question&) -> io::Task<void> {
    co_return co_await io::sleep_for(std::chrono::hours(1));
  };
  AskedRequest request(questions_, alice_);
  questions_.take_unaddressed(question(1, "elicitation/create"));
  tend(request);
  ASSERT_TRUE(loop_.run(eventually([&] { return alice_.asked.size() == 1; })));
  request.end(Ending::answered);
  wait_for_answers(1);
  EXPECT_THAT(channel_.sent, ElementsAre(HasSubstr("has ended")));
  loop_.settle();
}

}  // namespace
}  // namespace relay::peer
