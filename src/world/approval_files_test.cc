#include "world/approval_files.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "io/test_folder.h"

namespace relay::world {
namespace {

class ApprovalFilesTest : public testing::Test {
 protected:
  PendingApproval pending(const std::string& id) {
    PendingApproval one;
    one.id = id;
    one.kind = ApprovalKind::reload;
    one.summary = "summary of " + id;
    one.detail = {{"file", "f"}};
    one.since = "2026-01-01T00:00:00Z";
    one.pid = ::getpid();
    one.process_start = process_start_of(::getpid());
    return one;
  }

  io::TestFolder folder_;
  std::filesystem::path state_ = folder_.path();
};

TEST_F(ApprovalFilesTest, WhatWaitsIsListedUntilItIsRemoved) {
  ASSERT_TRUE(write_pending(state_, pending("abc123")));
  const auto all = list_pending(state_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].summary, "summary of abc123");
  EXPECT_EQ(all[0].kind, ApprovalKind::reload);
  EXPECT_EQ(json::find_string(all[0].detail, "file"), "f");
  remove_approval(state_, "abc123");
  EXPECT_TRUE(list_pending(state_).empty());
}

TEST_F(ApprovalFilesTest, AnAnswerIsTakenOnce) {
  ASSERT_TRUE(write_pending(state_, pending("abc123")));
  ASSERT_TRUE(write_answer(state_, {"abc123", true, "why", "ann"}));
  EXPECT_EQ(list_pending(state_).size(), 1U);  // an answer is nothing that waits
  const auto answers = take_answers(state_);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers[0].approved);
  EXPECT_EQ(answers[0].by, "ann");
  EXPECT_EQ(answers[0].reason, "why");
  EXPECT_TRUE(take_answers(state_).empty());
}

TEST_F(ApprovalFilesTest, WhatAProcessLeftThatIsGoneIsNeitherListedNorKept) {
  PendingApproval gone = pending("abc123");
  gone.process_start = "1";
  ASSERT_TRUE(write_pending(state_, gone));
  EXPECT_TRUE(list_pending(state_).empty());
  remove_abandoned_approvals(state_);
  EXPECT_TRUE(std::filesystem::is_empty(approvals_directory(state_)));
}

TEST_F(ApprovalFilesTest, TheAnswerForAnotherRunningRelayIsLeftToIt) {
  PendingApproval other = pending("abc123");
  other.pid = ::getppid();
  other.process_start = process_start_of(::getppid());
  ASSERT_TRUE(write_pending(state_, other));
  ASSERT_TRUE(write_answer(state_, {"abc123", true, "", "ann"}));
  EXPECT_TRUE(take_answers(state_).empty());
  EXPECT_TRUE(std::filesystem::exists(approvals_directory(state_) / "abc123.answer.json"));
}

TEST_F(ApprovalFilesTest, FilesThatAreNoAnswersAreNone) {
  for (const char* id : {"", "../x", "ABC", "abc.json", "a/b"}) EXPECT_FALSE(is_approval_id(id)) << id;
  for (const char* id : {"k3f7-", "../k3f7-ab", "k3f7-ab-cd", "K3F7-ab"})
    EXPECT_FALSE(is_approval_id(id)) << id;
  EXPECT_TRUE(is_approval_id("k3f7-0a1b2c3d4e5f"));
  ASSERT_TRUE(write_pending(state_, pending("abc123")));
  std::ofstream(approvals_directory(state_) / "abc123.answer.json") << "{\"approved\": \"yes\"}";
  std::ofstream(approvals_directory(state_) / "zzz.answer.json") << "{\"approved\": true}";
  EXPECT_TRUE(take_answers(state_).empty());
}

}  // namespace
}  // namespace relay::world
