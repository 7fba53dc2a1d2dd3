#include "executors/session_table.h"

#include <gtest/gtest.h>

#include "executors/fake_child.h"

namespace relay::executors {
namespace {

using namespace std::chrono_literals;

class SessionTableTest : public testing::Test {
 protected:
  std::shared_ptr<RunChild> make_child() {
    children_.push_back(std::make_unique<FakeChild>(loop_.get_executor()));
    return std::exchange(children_.back()->child, nullptr);
  }
  // One whole run of a session that ends well.
  void use(const SessionKey& key) {
    ASSERT_TRUE(table.take(key, Runtime::quickjs, SessionStart::keep));
    table.give_back(key, Runtime::quickjs, make_child(), "");
  }

  boost::asio::io_context loop_{1};
  std::vector<std::unique_ptr<FakeChild>> children_;
  FakeClock clock;
  SessionTable table{clock, {.total = 4, .per_owner = 2, .idle = 1min}};
  SessionKey ann{"ann", "work"};
};

TEST_F(SessionTableTest, KeepsTheChildForTheSameNameOnly) {
  auto lease = table.take(ann, Runtime::quickjs, SessionStart::keep);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->child, nullptr);
  const auto child = make_child();
  table.give_back(ann, Runtime::quickjs, child, "");
  EXPECT_EQ(table.take({"bob", "work"}, Runtime::quickjs, SessionStart::keep)->child, nullptr);
  EXPECT_EQ(table.take(ann, Runtime::pyodide, SessionStart::keep)->child, nullptr);
  EXPECT_EQ(table.take(ann, Runtime::quickjs, SessionStart::keep)->child, child);
}

TEST_F(SessionTableTest, ASecondRunAtTheSameTimeIsRefused) {
  ASSERT_TRUE(table.take(ann, Runtime::quickjs, SessionStart::keep));
  const auto second = table.take(ann, Runtime::quickjs, SessionStart::keep);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::busy);
}

TEST_F(SessionTableTest, ALostSessionSaysWhyOnce) {
  ASSERT_TRUE(table.take(ann, Runtime::quickjs, SessionStart::keep));
  table.give_back(ann, Runtime::quickjs, nullptr, "its last run was ended: too slow");
  EXPECT_EQ(table.list("ann").front().state, "lost");
  const auto lease = table.take(ann, Runtime::quickjs, SessionStart::keep);
  EXPECT_NE(lease->note.find("too slow"), std::string::npos);
  table.give_back(ann, Runtime::quickjs, make_child(), "");
  EXPECT_EQ(table.take(ann, Runtime::quickjs, SessionStart::keep)->note, "");
}

TEST_F(SessionTableTest, AChildThatDiedWhileIdleIsNoticed) {
  use(ann);
  children_.back()->end({.code = {}, .signal = SIGKILL});
  const auto lease = table.take(ann, Runtime::quickjs, SessionStart::keep);
  EXPECT_EQ(lease->child, nullptr);
  EXPECT_NE(lease->note.find("idle"), std::string::npos);
}

TEST_F(SessionTableTest, IdleOnesEndAfterAWhile) {
  use(ann);
  clock.advance(59s);
  table.sweep();
  EXPECT_EQ(table.size(), 1U);
  clock.advance(2s);
  table.sweep();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_TRUE(children_.front()->was_killed());
}

TEST_F(SessionTableTest, TheLongestIdleOneMakesRoom) {
  use({"ann", "1"});
  clock.advance(1s);
  use({"ann", "2"});
  clock.advance(1s);
  use({"ann", "3"});
  const auto infos = table.list("ann");
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_EQ(infos[0].name, "2");
  EXPECT_EQ(infos[1].name, "3");
}

// What belongs to a session, such as its files, goes when the session is gone in both languages, however it
// ends.
TEST_F(SessionTableTest, TellsWhichSessionIsGone) {
  std::vector<std::string> ended;
  SessionTable told{clock, {.total = 3, .per_owner = 2, .idle = 1min, .on_end = [&](const SessionKey& key) {
                              ended.push_back(key.name);
                            }}};
  const auto run = [&](const SessionKey& key, Runtime runtime = Runtime::quickjs) {
    ASSERT_TRUE(told.take(key, runtime, SessionStart::keep));
    told.give_back(key, runtime, make_child(), "");
  };
  const auto take_ended = [&] { return std::exchange(ended, {}); };
  using Names = std::vector<std::string>;
  run({"ann", "both"});
  clock.advance(1s);
  run({"ann", "both"}, Runtime::pyodide);
  clock.advance(1s);
  run({"ann", "displaces"});
  EXPECT_EQ(take_ended(), Names()) << "it is still there in the other language";
  run({"ann", "more"});
  EXPECT_EQ(take_ended(), Names{"both"});
  EXPECT_TRUE(told.reset({"ann", "more"}));
  EXPECT_EQ(take_ended(), Names{"more"});
  ASSERT_TRUE(told.take({"bob", "busy"}, Runtime::quickjs, SessionStart::keep));
  EXPECT_TRUE(told.reset({"bob", "busy"}));
  EXPECT_EQ(take_ended(), Names()) << "its run goes on";
  told.give_back({"bob", "busy"}, Runtime::quickjs, make_child(), "");
  EXPECT_EQ(take_ended(), Names{"busy"});
  told.drop("ann");
  EXPECT_EQ(take_ended(), Names{"displaces"});
  run({"cid", "idle"});
  clock.advance(2min);
  told.sweep();
  EXPECT_EQ(take_ended(), Names{"idle"});
}

TEST_F(SessionTableTest, BusyOnesAreNeverPushedOut) {
  ASSERT_TRUE(table.take({"ann", "1"}, Runtime::quickjs, SessionStart::keep));
  ASSERT_TRUE(table.take({"ann", "2"}, Runtime::quickjs, SessionStart::keep));
  EXPECT_EQ(table.take({"ann", "3"}, Runtime::quickjs, SessionStart::keep).error().kind, ErrorKind::busy);
}

TEST_F(SessionTableTest, ResetEndsTheChildAlsoAfterABusyRun) {
  use(ann);
  EXPECT_TRUE(table.reset(ann));
  EXPECT_TRUE(children_.back()->was_killed());
  EXPECT_FALSE(table.reset(ann));
  ASSERT_TRUE(table.take(ann, Runtime::quickjs, SessionStart::keep));
  EXPECT_TRUE(table.reset(ann));
  table.give_back(ann, Runtime::quickjs, make_child(), "");
  EXPECT_EQ(table.size(), 0U);
  EXPECT_TRUE(children_.back()->was_killed());
}

TEST_F(SessionTableTest, ResetAtStartForgetsWithoutANote) {
  use(ann);
  const auto lease = table.take(ann, Runtime::quickjs, SessionStart::reset);
  EXPECT_EQ(lease->child, nullptr);
  EXPECT_EQ(lease->note, "");
}

TEST_F(SessionTableTest, NamesAreBounded) {
  EXPECT_FALSE(table.take({"ann", ""}, Runtime::quickjs, SessionStart::keep));
  EXPECT_FALSE(table.take({"ann", std::string(65, 'x')}, Runtime::quickjs, SessionStart::keep));
}

}  // namespace
}  // namespace relay::executors
