#include "pipeline/pipeline.h"

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "audit/audit_fixture.h"
#include "audit/verify.h"

namespace relay::pipeline {
namespace {

using audit::lines_of;
using authority::Call;
using authority::Ending;
using authority::Recorded;
using authority::Tier;
using protocol::ToolResult;

struct Seen final : CallObserver {
  std::vector<Ending> endings;
  void call_ended(const Call&, Tier, Ending ending, std::chrono::nanoseconds) override {
    endings.push_back(ending);
  }
};

struct Person final : Confirmer {
  policy::ConfirmationAnswer answer = policy::ConfirmationAnswer::agreed;
  int asked = 0;
  [[nodiscard]] bool can_ask() const override { return true; }
  io::Task<policy::ConfirmationAnswer> ask(const Call&, const authority::Decision&) override {
    ++asked;
    co_return answer;
  }
};

struct World {
  audit::TempFolder folder;
  SystemClock clock;
  SystemRandom random;
  boost::asio::io_context loop;
  std::unique_ptr<audit::Journal> journal;
  policy::Broker broker{clock, random, std::chrono::seconds(60), policy::Confirming::agents_too};
  ResultsStore results{clock, random};
  Seen seen;
  NobodyToAsk nobody;
  int executed = 0;
  std::optional<Pipeline> pipeline;

  explicit World(std::string_view rules = "{}") {
    journal = std::move(*audit::Journal::start(
        loop.get_executor(), {.ledger = {folder.log()}, .on_failure = audit::OnFailure::refuse}, clock));
    std::vector<policy::Problem> problems;
    policy::Rules read = policy::read_rules(*json::parse_object(rules), "policy", problems);
    pipeline.emplace(policy::PolicyEngine::make(std::move(read), "policy", problems), broker, *journal,
                     results, clock);
    pipeline->add_observer(seen);
  }

  Work<ToolResult> echo(std::string text = "done") {
    return [this, text](const Recorded&) -> io::Task<ToolResult> {
      ++executed;
      co_return ToolResult::text(text);
    };
  }

  Result<ToolResult> run(Call call, Work<ToolResult> work, Confirmer* confirmer = nullptr,
                         std::string invalid = {}) {
    Result<ToolResult> result = fail(internal("did not finish"));
    auto body = [](World& w, Call c, Work<ToolResult> inner, Confirmer& who, std::string problem,
                   Result<ToolResult>& out) -> io::Task<void> {
      Conditions conditions{who, limits::kResultBytes, std::move(problem)};
      out = co_await w.pipeline->run<ToolResult>(std::move(c), std::move(conditions), std::move(inner));
      co_return Result<void>{};
    };
    io::spawn(loop.get_executor(),
              body(*this, std::move(call), std::move(work), confirmer ? *confirmer : nobody,
                   std::move(invalid), result),
              "test");
    loop.restart();
    loop.run();
    return result;
  }

  [[nodiscard]] json::object last() const { return *json::parse_object(lines_of(folder.log()).back()); }
  [[nodiscard]] std::string last(std::string_view key) const {
    return std::string(json::find_string(last(), key).value_or(""));
  }
};

std::string text_of(const Result<ToolResult>& result) {
  return std::get<protocol::TextContent>(result->content.at(0)).text;
}

TEST(Pipeline, RecordsTheHashOfWhatTheClientGets) {
  World world;
  const auto result = world.run(audit::make_call("req_1"), world.echo("hello"));
  EXPECT_EQ(text_of(result), "hello");
  EXPECT_EQ(world.last("output_sha256"), sha256_hex("hello"));
  EXPECT_EQ(world.last("outcome"), "ok");
  EXPECT_EQ(world.seen.endings, std::vector{Ending::ok});
}

TEST(Pipeline, ADeniedCallDoesNotRunAndIsOnRecord) {
  World world(R"({"deny":["run_js"]})");
  const auto result = world.run(audit::make_call("req_1"), world.echo());
  EXPECT_TRUE(result->is_error);
  EXPECT_EQ(text_of(result), "[DENIED tier 1 (REVERSIBLE): matched the deny list (policy.deny)]");
  EXPECT_EQ(world.executed, 0);
  EXPECT_EQ(json::find_bool(world.last(), "denied"), true);
  EXPECT_EQ(world.last("ladder"), "deny list* run_js");
}

TEST(Pipeline, InvalidArgumentsAreRefusedBeforePolicyAndRecorded) {
  World world;
  const auto result =
      world.run(audit::make_call("req_1"), world.echo(), nullptr, "ValidationError: $.x: missing");
  EXPECT_EQ(text_of(result), "ValidationError: $.x: missing");
  EXPECT_EQ(world.last("outcome"), "invalid");
  EXPECT_EQ(world.executed, 0);
}

TEST(Pipeline, ATokenLeadsThroughTheConfirmation) {
  World world(R"({"confirmTier3":true})");
  const Call call = audit::make_call("req_1", Tier::irreversible);
  const auto asked = world.run(call, world.echo());
  const std::string text = text_of(asked);
  EXPECT_TRUE(text.starts_with("[CONFIRM REQUIRED tier 3 (IRREVERSIBLE): ")) << text;
  EXPECT_EQ(world.last("action"), "confirm_plan");
  const std::size_t at = text.find("token=\"") + 7;
  const std::string token = text.substr(at, text.find('"', at) - at);
  EXPECT_EQ(audit::slurp(world.folder.log()).find(token), std::string::npos);
  EXPECT_EQ(world.executed, 0);
  ASSERT_TRUE(world.broker.arm(token, call.caller));
  EXPECT_EQ(text_of(world.run(call, world.echo())), "done");
  EXPECT_EQ(world.last("action"), "confirm_execute");
  EXPECT_TRUE(text_of(world.run(call, world.echo())).starts_with("[CONFIRM REQUIRED"));
  EXPECT_EQ(world.executed, 1);
}

TEST(Pipeline, APersonIsAskedWhereTheClientCan) {
  World world(R"({"confirmTier3":true})");
  Person person;
  const Call call = audit::make_call("req_1", Tier::irreversible);
  EXPECT_EQ(text_of(world.run(call, world.echo(), &person)), "done");
  person.answer = policy::ConfirmationAnswer::declined;
  EXPECT_EQ(text_of(world.run(call, world.echo(), &person)),
            "[DENIED tier 3 (IRREVERSIBLE): the person who was asked declined]");
  EXPECT_EQ(world.last("outcome"), "denied");
  EXPECT_EQ(person.asked, 2);
  EXPECT_EQ(world.executed, 1);
}

TEST(Pipeline, FailuresAndExceptionsStayInsideTheCall) {
  World world;
  const auto failed = world.run(audit::make_call("req_1"), [](const Recorded&) -> io::Task<ToolResult> {
    co_return fail(timed_out("too slow"));
  });
  EXPECT_EQ(failed.error().kind, ErrorKind::timeout);
  EXPECT_EQ(world.last("outcome"), "timeout");
  const auto thrown = world.run(audit::make_call("req_2"), [](const Recorded&) -> io::Task<ToolResult> {
    throw std::runtime_error("defect");
    co_return ToolResult{};
  });
  EXPECT_EQ(thrown.error().kind, ErrorKind::internal);
  EXPECT_EQ(world.last("outcome"), "error");
  EXPECT_EQ(world.seen.endings, (std::vector{Ending::timeout, Ending::error}));
}

TEST(Pipeline, ACancelledCallIsClosedAsCancelled) {
  World world;
  io::CancelSource cancel;
  auto body = [](World& w) -> io::Task<void> {
    Conditions conditions{w.nobody};
    Work<ToolResult> forever = [](const Recorded&) -> io::Task<ToolResult> {
      RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::hours(1)));
      co_return ToolResult{};
    };
    auto result = co_await w.pipeline->run<ToolResult>(audit::make_call("req_1", Tier::stateful),
                                                       std::move(conditions), std::move(forever));
    ADD_FAILURE() << "was not cancelled";
    co_return Result<void>{};
  };
  auto canceller = [](io::CancelSource source) -> io::Task<void> {
    RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(50)));
    source.cancel();
    co_return Result<void>{};
  };
  io::spawn(world.loop.get_executor(), body(world), "call", cancel);
  io::spawn(world.loop.get_executor(), canceller(cancel), "cancel");
  world.loop.run();
  world.pipeline.reset();
  world.journal
      .reset();  // nobody waits for the line of a cancelled call, so the writer thread may still have it
  EXPECT_EQ(world.last("outcome"), "cancelled");
  EXPECT_EQ(world.seen.endings, std::vector{Ending::cancelled});
  EXPECT_TRUE(audit::verify_log(world.folder.log(), audit::Scope::whole).ok);
}

TEST(Pipeline, NoSecretOfTheArgumentsReachesTheLog) {
  World world;
  Call call = audit::make_call("req_1");
  call.args = *authority::Arguments::parse(
      R"({"env":{"DB_PASSWORD":"hunter2hunter2"},"command":"curl -H 'Authorization: Bearer sEcReT123' https://u:pAsSw0rd@h/"})");
  ASSERT_TRUE(world.run(call, world.echo("sEcReT123")));
  const std::string log = audit::slurp(world.folder.log());
  for (const char* secret : {"hunter2", "sEcReT123", "pAsSw0rd"})
    EXPECT_EQ(log.find(secret), std::string::npos) << secret;
}

}  // namespace
}  // namespace relay::pipeline
