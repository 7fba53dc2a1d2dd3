#include "app/refusal_book.h"

#include <gtest/gtest.h>

namespace relay::app {
namespace {

authority::Call a_run() {
  authority::Call run;
  run.request_id = "req_run";
  run.caller.principal = "alice";
  run.toolset = "code";
  run.tool = "run_js";
  run.args = json::object{{"code", "secret"}};
  return run;
}

TEST(RefusedCall, IsLinkedToTheRunAndSaysNoMoreThanAnAuditNeeds) {
  const authority::Call call = refused_call(
      {fetch::BlockedFetch::What::address, "inside.example", "10.1.2.0/24", "is private"}, a_run());
  EXPECT_EQ(call.tool, "fetch");
  EXPECT_EQ(call.parent, "req_run");
  EXPECT_EQ(call.caller.principal, "alice");
  EXPECT_EQ(json::write(call.args), R"({"what":"address","host":"inside.example","network":"10.1.2.0/24"})");
}

TEST(RefusedCall, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(json::write(refused_call({fetch::BlockedFetch::What::flood, "", "", "too many"}, a_run()).args),
            R"({"what":"flood"})");
}

}  // namespace
}  // namespace relay::app
