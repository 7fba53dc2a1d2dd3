#include "policy/engine.h"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policy/grammar.h"

namespace relay::policy {
namespace {

using authority::Call;
using authority::Decision;
using authority::Grant;
using authority::Tier;
using authority::Verdict;

Call make_call(std::string tool, Tier tier, std::string text = {}, std::string principal = "alice") {
  Call call;
  call.request_id = "req_1";
  call.tool = std::move(tool);
  call.tier = tier;
  call.policy_text = std::move(text);
  call.caller.principal = std::move(principal);
  call.args = json::object{{"x", 1}};
  return call;
}

PolicyEngine make_engine(std::string_view policy) {
  std::vector<Problem> problems;
  Rules rules = read_rules(*json::parse_object(policy), "policy", problems);
  PolicyEngine engine = PolicyEngine::make(std::move(rules), "policy", problems);
  EXPECT_TRUE(problems.empty()) << problems.front().path << " " << problems.front().message;
  return engine;
}

struct LadderRow {
  std::string_view policy;
  Call call;
  Verdict verdict;
  Tier tier;
  std::string_view ladder;
};

TEST(PolicyEngine, DecidesByTheLadder) {
  const LadderRow rows[] = {
      {R"({})", make_call("read", Tier::read_only), Verdict::allow, Tier::read_only,
       "deny list-; rules-; mode* open; confirmation-"},
      {R"({})", make_call("rm", Tier::irreversible), Verdict::allow, Tier::irreversible,
       "deny list-; rules-; mode* open; confirmation-"},
      {R"({"deny":["curl"]})", make_call("shell_exec", Tier::reversible, "echo a\ncurl x"), Verdict::deny,
       Tier::reversible, "deny list* curl"},
      {R"({"deny":["^shell_exec rm "]})", make_call("shell_exec", Tier::reversible, "rm x"), Verdict::deny,
       Tier::reversible, "deny list* ^shell_exec rm "},
      {R"({"deny":["^read$"]})", make_call("read", Tier::read_only), Verdict::deny, Tier::read_only,
       "deny list* ^read$"},
      {R"({"mode":"readonly"})", make_call("read", Tier::read_only), Verdict::allow, Tier::read_only,
       "deny list-; rules-; mode* readonly; confirmation-"},
      {R"({"mode":"readonly"})", make_call("write", Tier::reversible), Verdict::deny, Tier::reversible,
       "deny list-; rules-; mode* readonly refuses tier 1"},
      {R"({"mode":"readonly","allow":["write"]})", make_call("write", Tier::reversible), Verdict::deny,
       Tier::reversible, "deny list-; rules-; mode* readonly refuses tier 1"},
      {R"({"mode":"guarded"})", make_call("write", Tier::reversible), Verdict::allow, Tier::reversible,
       "deny list-; rules-; mode* guarded; confirmation-"},
      {R"({"mode":"guarded"})", make_call("up", Tier::stateful), Verdict::deny, Tier::stateful,
       "deny list-; rules-; mode* guarded refuses tier 2"},
      {R"({"mode":"guarded","allow":["^up "]})", make_call("up", Tier::stateful, "a"), Verdict::allow,
       Tier::stateful, "deny list-; rules-; mode* guarded, allowed by ^up ; confirmation-"},
      {R"({"mode":"guarded","allow":["up"],"deny":["up"]})", make_call("up", Tier::stateful), Verdict::deny,
       Tier::stateful, "deny list* up"},
      {R"({"mode":"guarded","rules":[{"tool":"u*","effect":"allow"}]})", make_call("up", Tier::stateful),
       Verdict::allow, Tier::stateful,
       "deny list-; rules+; mode* guarded, an allow rule matched; confirmation-"},
      {R"({"mode":"readonly","rules":[{"tool":"u*","effect":"allow"}]})", make_call("up", Tier::stateful),
       Verdict::deny, Tier::stateful, "deny list-; rules+; mode* readonly refuses tier 2"},
      {R"({"rules":[{"tool":"ssh_*","client":"ci-*","effect":"deny","reason":"no hosts for CI"}]})",
       make_call("ssh_exec", Tier::reversible, "", "ci-7"), Verdict::deny, Tier::reversible,
       "deny list-; rules* deny tool=ssh_* client=ci-* (no hosts for CI)"},
      {R"({"rules":[{"tool":"ssh_*","client":"ci-*","effect":"deny"}]})",
       make_call("ssh_exec", Tier::reversible), Verdict::allow, Tier::reversible,
       "deny list-; rules-; mode* open; confirmation-"},
      {R"({"rules":[{"effect":"allow"},{"effect":"deny"}]})", make_call("x", Tier::read_only), Verdict::deny,
       Tier::read_only, "deny list-; rules* deny tool=* client=*"},
      {R"({"mode":"guarded","rules":[{"tool":"x","effect":"confirm","tier":2}]})",
       make_call("x", Tier::read_only), Verdict::deny, Tier::stateful,
       "deny list-; rules+; mode* guarded refuses tier 2"},
      {R"({"rules":[{"tool":"x","effect":"confirm","reason":"costly"}]})", make_call("x", Tier::read_only),
       Verdict::confirm, Tier::read_only,
       "deny list-; rules+; mode+ open; confirmation* confirm tool=x client=* (costly)"},
      {R"({"rules":[{"tool":"x","effect":"allow","tier":0}]})", make_call("x", Tier::stateful),
       Verdict::allow, Tier::stateful, "deny list-; rules+; mode* open; confirmation-"},
      {R"({"confirmTier3":true})", make_call("x", Tier::irreversible), Verdict::confirm, Tier::irreversible,
       "deny list-; rules-; mode+ open; confirmation* tier 3"},
      {R"({"confirmTier3":true})", make_call("x", Tier::stateful), Verdict::allow, Tier::stateful,
       "deny list-; rules-; mode* open; confirmation-"},
      {R"({"confirmTier3":true,"rules":[{"tool":"x","effect":"allow","tier":3}]})",
       make_call("x", Tier::read_only), Verdict::confirm, Tier::irreversible,
       "deny list-; rules+; mode+ open; confirmation* tier 3"},
      {R"({"confirmTier3":true,"deny":["x"]})", make_call("x", Tier::irreversible), Verdict::deny,
       Tier::irreversible, "deny list* x"},
  };
  for (const LadderRow& row : rows) {
    const Decision decision = make_engine(row.policy).decide(row.call);
    EXPECT_EQ(decision.verdict, row.verdict) << row.policy;
    EXPECT_EQ(decision.tier, row.tier) << row.policy;
    EXPECT_EQ(authority::compact_ladder(decision), row.ladder);
    std::size_t deciding = 99;
    EXPECT_EQ(authority::parse_compact_ladder(row.ladder, deciding), decision.ladder);
    EXPECT_EQ(deciding, decision.deciding);
    EXPECT_FALSE(decision.reason.empty());
  }
}

Call with_fields(Call call, std::vector<authority::CallField> fields) {
  call.fields = std::move(fields);
  return call;
}

TEST(PolicyEngine, DenyPatternsLookAtEachFieldAlone) {
  const auto denied = [](std::string_view policy, std::vector<authority::CallField> fields) {
    const Call call = with_fields(make_call("write", Tier::reversible), std::move(fields));
    return make_engine(policy).decide(call).verdict == Verdict::deny;
  };
  EXPECT_TRUE(denied(R"({"deny":["^write /etc/"]})", {{"path", "/etc/x"}}));
  EXPECT_TRUE(denied(R"({"deny":["^write path=/etc/"]})", {{"path", "/etc/x"}}));
  EXPECT_TRUE(denied(R"({"deny":["/x$"]})", {{"path", "/etc/x"}, {"content", "more"}}));
  EXPECT_TRUE(
      denied(R"({"deny":["BEGIN PRIVATE"]})", {{"path", "/tmp/x"}, {"content", "BEGIN PRIVATE KEY"}}));
  EXPECT_TRUE(denied(R"({"deny":["^write$"]})", {{"path", "/tmp/x"}}));
  EXPECT_FALSE(denied(R"({"deny":["^write path=/etc/"]})", {{"path", "/tmp/x"}, {"content", "/etc/"}}));
}

TEST(PolicyEngine, AllowPatternsAreNotMetByContent) {
  const auto allowed = [](std::string_view allow, std::vector<authority::CallField> fields) {
    const std::string policy = R"({"mode":"guarded","allow":[)" + json::quote(allow) + "]}";
    Call call = with_fields(make_call("write", Tier::stateful), std::move(fields));
    for (const auto& field : call.fields) call.policy_text += field.value + "\n";
    return make_engine(policy).decide(call).verdict == Verdict::allow;
  };
  EXPECT_TRUE(allowed("^write /host/safe/", {{"path", "/host/safe/x"}, {"content", "a"}}));
  EXPECT_TRUE(allowed("^write path=/host/safe/", {{"path", "/host/safe/x"}}));
  EXPECT_TRUE(allowed("^write ", {{"path", "/host/any"}}));
  EXPECT_TRUE(allowed("^write$", {{"path", "/host/any"}}));
  EXPECT_TRUE(allowed("^write a.example$", {{"host", "a.example"}}));
  EXPECT_TRUE(allowed("command=ls", {{"command", "ls"}}));
  EXPECT_FALSE(allowed("/host/safe/", {{"path", "/host/other"}, {"content", "/host/safe/"}}));
  EXPECT_FALSE(allowed("^write /host/safe/", {{"content", "/host/safe/"}, {"path", "/host/other"}}));
  EXPECT_FALSE(allowed("/host/safe/", {{"path", "/host/safe/a"}, {"path", "/host/other"}}));
  EXPECT_FALSE(allowed("^write path=/host/safe/", {{"path", "/host/x"}, {"command", "path=/host/safe/"}}));
}

TEST(PolicyEngine, RulesLookAtPathHostAndCommand) {
  const auto verdict = [](std::string_view rule, std::vector<authority::CallField> fields) {
    const std::string policy = R"({"mode":"guarded","rules":[)" + std::string(rule) + "]}";
    return make_engine(policy).decide(with_fields(make_call("x", Tier::stateful), std::move(fields))).verdict;
  };
  const std::string_view allow = R"({"path":"/host/p/*","effect":"allow"})";
  EXPECT_EQ(verdict(allow, {{"path", "/host/p/a/b"}}), Verdict::allow);
  EXPECT_EQ(verdict(allow, {{"path", "/host/p/a"}, {"path", "/host/q"}}), Verdict::deny);
  EXPECT_EQ(verdict(allow, {{"content", "/host/p/a"}}), Verdict::deny);
  EXPECT_EQ(verdict(allow, {}), Verdict::deny);
  const auto denies = [&](std::string_view field, std::string_view name, std::string value) {
    const std::string rules =
        R"({"effect":"allow"},{")" + std::string(field) + R"(":"*bad*","effect":"deny"})";
    return verdict(rules, {{"path", "/ok"}, {std::string(name), std::move(value)}}) == Verdict::deny;
  };
  EXPECT_TRUE(denies("path", "path", "/bad"));
  EXPECT_TRUE(denies("host", "host", "bad.example"));
  EXPECT_TRUE(denies("command", "command", "bad -x"));
  EXPECT_FALSE(denies("host", "command", "bad -x"));
}

TEST(PolicyEngine, ANameThatAClientGaveItselfGrantsNothing) {
  const auto decide = [](std::string principal, std::string_view rule) {
    Call call = make_call("up", Tier::stateful, "", std::move(principal));
    call.caller.client_name = "ci";
    return make_engine(R"({"mode":"guarded","rules":[)" + std::string(rule) + "]}").decide(call);
  };
  const Decision claimed = decide("local", R"({"client":"local/ci","effect":"allow"})");
  EXPECT_EQ(claimed.verdict, Verdict::deny);
  EXPECT_NE(claimed.ladder[1].detail.find("its own claim"), std::string::npos);
  EXPECT_EQ(decide("", R"({"client":"*/ci","effect":"allow"})").verdict, Verdict::deny);
  EXPECT_EQ(decide("local", R"({"client":"local","effect":"allow"})").verdict, Verdict::allow);
  EXPECT_EQ(decide("local", R"({"client":"*","effect":"allow"})").verdict, Verdict::allow);
  EXPECT_EQ(decide("local", R"({"client":"local*","effect":"allow"})").verdict, Verdict::allow);
  EXPECT_EQ(decide("ci", R"({"client":"ci","effect":"allow"})").verdict, Verdict::allow);
  EXPECT_EQ(decide("local", R"({"effect":"allow"},{"client":"local/ci","effect":"deny"})").verdict,
            Verdict::deny);
}

TEST(PolicyEngine, ExplainsItselfToPeople) {
  const Decision decision =
      make_engine(R"({"mode":"readonly"})").decide(make_call("write", Tier::reversible));
  EXPECT_EQ(authority::describe(decision),
            "deny at tier 1 (REVERSIBLE): readonly mode admits tier 0 only, this is tier 1\n"
            "   1. deny list     no match\n"
            "   2. rules         no match\n"
            "-> 3. mode          matched  readonly refuses tier 1\n");
  EXPECT_EQ(denied_text(decision),
            "[DENIED tier 1 (REVERSIBLE): readonly mode admits tier 0 only, this is tier 1]");
}

TEST(PolicyEngine, CollectsEveryProblemAndThenAdmitsNothing) {
  std::vector<Problem> problems;
  Rules rules =
      read_rules(*json::parse_object(R"({"mode":"opne","deny":["(",7],"allow":["[z-a]"],"confirmTtlSeconds":1,
      "rules":[{"effect":"maybe","tier":9,"toool":"x"},5]})"),
                 "policy", problems);
  PolicyEngine engine = PolicyEngine::make(std::move(rules), "policy", problems);
  std::vector<std::string> paths;
  for (const Problem& problem : problems) paths.push_back(problem.path);
  for (const char* path :
       {"policy.mode", "policy.deny[1]", "policy.deny[0]", "policy.allow[0]", "policy.confirmTtlSeconds",
        "policy.rules[0].effect", "policy.rules[0].tier", "policy.rules[0].toool", "policy.rules[1]"})
    EXPECT_NE(std::ranges::find(paths, path), paths.end()) << path;
  EXPECT_EQ(engine.decide(make_call("read", Tier::read_only)).verdict, Verdict::deny);
}

// Random policies over a small alphabet, so that rules and calls really meet.
TEST(PolicyEngine, ADenyAlwaysWinsAndAddingOneNeverAllows) {
  std::mt19937 random(7);
  const auto pick = [&](auto... items) {
    const std::string choices[] = {std::string(items)...};
    return choices[random() % sizeof...(items)];
  };
  for (int round = 0; round < 3000; ++round) {
    Rules rules;
    rules.mode = static_cast<PolicyMode>(random() % 3);
    rules.confirm_tier3 = random() % 2;
    if (random() % 2) rules.allow.push_back(pick("a", "b", "."));
    for (unsigned i = random() % 4; i > 0; --i)
      rules.rules.push_back({pick("a", "b", "*", ""), pick("alice", "b*", ""),
                             static_cast<Effect>(random() % 3),
                             authority::find_tier(static_cast<int>(random() % 5)), ""});
    const Call call = make_call(pick("a", "b"), static_cast<Tier>(random() % 4), pick("a", "b", "c"));
    std::vector<Problem> problems;
    const Decision before = PolicyEngine::make(rules, "p", problems).decide(call);
    EXPECT_GE(before.tier, call.tier);
    Rules with_deny = rules;
    with_deny.deny.push_back(pick("a", "b", "c"));
    const Decision after = PolicyEngine::make(with_deny, "p", problems).decide(call);
    if (before.verdict != Verdict::allow) {
      EXPECT_NE(after.verdict, Verdict::allow);
    }
    const std::string probe = call.tool + " " + call.policy_text;
    if (probe.find(with_deny.deny[0]) != std::string::npos) {
      EXPECT_EQ(after.verdict, Verdict::deny);
    }
    Rules with_rule = rules;
    with_rule.rules.push_back({pick("a", "b", ""), pick("alice", ""), Effect::deny, std::nullopt, ""});
    if (before.verdict == Verdict::deny) {
      EXPECT_EQ(PolicyEngine::make(with_rule, "p", problems).decide(call).verdict, Verdict::deny);
    }
  }
}

struct Fixture {
  FakeClock clock;
  FakeRandom random;
  Broker broker{clock, random, std::chrono::seconds(120), Confirming::agents_too};
  PolicyEngine engine = make_engine(R"({"confirmTier3":true})");
};

TEST(Confirmation, ATokenConfirmsTheExactCallOnce) {
  Fixture f;
  const Call call = make_call("rm", Tier::irreversible, "rm -rf /x");
  EXPECT_TRUE(std::holds_alternative<Refusal>(f.engine.admit(call)));
  const Challenge challenge = f.broker.plan(call);
  EXPECT_EQ(challenge.token.size(), 22U);
  EXPECT_FALSE(f.broker.consume(call));  // not armed
  EXPECT_FALSE(f.broker.arm("nonsense", call.caller));
  EXPECT_FALSE(f.broker.arm(challenge.token, make_call("rm", Tier::irreversible, "", "mallory").caller));
  EXPECT_TRUE(f.broker.arm(challenge.token, call.caller));
  Call other_text = call;
  other_text.policy_text = "rm -rf /y";
  Call other_args = call;
  other_args.args = json::object{{"x", 2}};
  Call other_client = call;
  other_client.caller.principal = "mallory";
  for (const Call& other : {other_text, other_args, other_client}) EXPECT_FALSE(f.broker.consume(other));
  auto confirmed = f.broker.consume(call);
  ASSERT_TRUE(confirmed);
  EXPECT_FALSE(f.broker.consume(call));
  Admission admission = f.engine.admit_confirmed(call, std::move(*confirmed));
  ASSERT_TRUE(std::holds_alternative<Grant>(admission));
  EXPECT_EQ(std::get<Grant>(admission).decision().ladder.back().detail, "tier 3, confirmed by token");
}

TEST(Confirmation, DoesNotConfirmAnotherCallNorBeatADeny) {
  Fixture f;
  const Call call = make_call("rm", Tier::irreversible, "a");
  Call other = call;
  other.policy_text = "b";
  auto confirmed = f.broker.accept(call, ConfirmationAnswer::agreed);
  EXPECT_TRUE(std::holds_alternative<Refusal>(f.engine.admit_confirmed(other, std::move(*confirmed))));
  confirmed = f.broker.accept(call, ConfirmationAnswer::agreed);
  const PolicyEngine denying = make_engine(R"({"confirmTier3":true,"deny":["rm"]})");
  EXPECT_TRUE(std::holds_alternative<Refusal>(denying.admit_confirmed(call, std::move(*confirmed))));
  EXPECT_FALSE(f.broker.accept(call, ConfirmationAnswer::declined));
  EXPECT_FALSE(f.broker.accept(call, ConfirmationAnswer::unanswered));
}

TEST(Confirmation, TokensExpireAndAreBounded) {
  Fixture f;
  const Call call = make_call("rm", Tier::irreversible);
  const Challenge challenge = f.broker.plan(call);
  f.clock.advance(std::chrono::seconds(119));
  EXPECT_TRUE(f.broker.arm(challenge.token, call.caller));
  f.clock.advance(std::chrono::seconds(1));
  EXPECT_FALSE(f.broker.consume(call));
  SystemRandom random;
  Broker broker(f.clock, random, std::chrono::seconds(60));
  for (int i = 0; i < 1000; ++i) (void)broker.plan(make_call("rm", Tier::irreversible, std::to_string(i)));
  EXPECT_EQ(broker.pending(), 256U);
  const Challenge for_agents{"TOK", std::chrono::seconds(60), "c0ffee", Confirming::agents_too};
  EXPECT_EQ(confirm_required_text(f.engine.decide(call), for_agents),
            "[CONFIRM REQUIRED tier 3 (IRREVERSIBLE): this cannot be undone; nothing has run. If this is "
            "really wanted, call "
            "operation_confirm with token=\"TOK\", then issue exactly the same call again, within 60s.]");
  EXPECT_EQ(
      confirm_required_text(f.engine.decide(call), {"TOK", std::chrono::seconds(60), "c0ffee"}),
      "[CONFIRM REQUIRED tier 3 (IRREVERSIBLE): this cannot be undone; nothing has run. Only the operator "
      "can allow it: ask them to run `relay approvals approve c0ffee` within 60s, then issue exactly the "
      "same call again.]");
}

TEST(Confirmation, TheSameCallWaitsOnceHoweverOftenItIsMade) {
  Fixture f;
  const Call call = make_call("rm", Tier::irreversible, "rm -rf /x");
  const std::string first = f.broker.plan(call).id;
  f.clock.advance(std::chrono::seconds(100));
  EXPECT_EQ(f.broker.plan(call).id, first);
  EXPECT_EQ(f.broker.pending(), 1U);
  f.clock.advance(std::chrono::seconds(100));  // its time began anew
  EXPECT_TRUE(f.broker.approve(first));
}

TEST(Confirmation, ByDefaultOnlyTheOperatorConfirms) {
  Fixture f;
  SystemRandom random;
  Broker broker(f.clock, random, std::chrono::seconds(60));
  const Call call = make_call("rm", Tier::irreversible, "rm -rf /x");
  const Challenge challenge = broker.plan(call);
  EXPECT_FALSE(broker.arm(challenge.token, call.caller));
  EXPECT_FALSE(broker.consume(call));
  EXPECT_FALSE(broker.approve("c0ffee"));
  EXPECT_TRUE(broker.approve(challenge.id));
  Call other_client = call;
  other_client.caller.session_id = "another";
  EXPECT_FALSE(broker.consume(other_client));
  auto confirmed = broker.consume(call);
  ASSERT_TRUE(confirmed);
  Admission admission = f.engine.admit_confirmed(call, std::move(*confirmed));
  ASSERT_TRUE(std::holds_alternative<Grant>(admission));
  EXPECT_EQ(std::get<Grant>(admission).decision().ladder.back().detail, "tier 3, confirmed by the operator");
  EXPECT_FALSE(broker.consume(call));
}

TEST(Confirmation, WhatTheOperatorDeniesOrForgetsIsGone) {
  struct Watcher : BrokerObserver {
    void call_waits(const std::string& id, const Call&, std::chrono::seconds) override { seen += "+" + id; }
    void call_gone(const std::string& id) override { seen += "-" + id; }
    std::string seen;
  } watcher;
  FakeClock clock;
  SystemRandom random;
  Broker broker(clock, random, std::chrono::seconds(60));
  broker.set_observer(&watcher);
  const Call call = make_call("rm", Tier::irreversible);
  const std::string denied = broker.plan(call).id;
  EXPECT_TRUE(broker.deny(denied));
  EXPECT_FALSE(broker.approve(denied));
  const std::string late = broker.plan(call).id;
  EXPECT_TRUE(broker.approve(late));
  clock.advance(std::chrono::seconds(60));
  EXPECT_FALSE(broker.consume(call));
  EXPECT_EQ(watcher.seen, "+" + denied + "-" + denied + "+" + late + "-" + late);
}

// The session is part of who a client is: an agent in one window must not spend what was confirmed in
// another.
TEST(Confirmation, BelongsToOneClientNameAndOneSession) {
  Fixture f;
  Call call = make_call("rm", Tier::irreversible, "a");
  call.caller.client_name = "editor";
  call.caller.session_id = "one";
  const Challenge challenge = f.broker.plan(call);
  Call other_session = call;
  other_session.caller.session_id = "two";
  Call other_name = call;
  other_name.caller.client_name = "terminal";
  for (const Call& other : {other_session, other_name})
    EXPECT_FALSE(f.broker.arm(challenge.token, other.caller));
  ASSERT_TRUE(f.broker.arm(challenge.token, call.caller));
  for (const Call& other : {other_session, other_name}) EXPECT_FALSE(f.broker.consume(other));
  EXPECT_TRUE(f.broker.consume(call));
}

// The newest question is the one that somebody is about to answer.
TEST(Confirmation, TheOldestTokenGoesWhenThereAreTooMany) {
  FakeClock clock;
  SystemRandom random;
  Broker broker(clock, random, std::chrono::seconds(3600), Confirming::agents_too);
  const auto nth = [](std::size_t i) { return make_call(fmt::format("rm{}", i), Tier::irreversible); };
  const Call call = nth(0);
  const Challenge first = broker.plan(call);
  clock.advance(std::chrono::seconds(1));
  const Challenge second = broker.plan(nth(1));
  clock.advance(std::chrono::seconds(1));
  for (std::size_t i = 2; i < 256; ++i) (void)broker.plan(nth(i));
  EXPECT_EQ(broker.pending(), 256U);
  EXPECT_TRUE(broker.arm(first.token, call.caller));
  const Challenge last = broker.plan(nth(256));
  EXPECT_EQ(broker.pending(), 256U);
  EXPECT_FALSE(broker.arm(first.token, call.caller));
  EXPECT_TRUE(broker.arm(second.token, call.caller));
  EXPECT_TRUE(broker.arm(last.token, call.caller));
}

TEST(Confirmation, ATokenIsPendingUntilTheMomentItExpires) {
  Fixture f;
  const Call call = make_call("rm", Tier::irreversible);
  const Challenge challenge = f.broker.plan(call);
  f.clock.advance(std::chrono::seconds(119));
  EXPECT_EQ(f.broker.pending(), 1U);
  f.clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(f.broker.pending(), 0U);
  EXPECT_FALSE(f.broker.arm(challenge.token, call.caller));
}

TEST(Confirmation, IsNotNeededWhereTheRulesAllowAndDoesNotChangeThem) {
  Fixture f;
  const Call call = make_call("read", Tier::read_only);
  Admission admission = f.engine.admit_confirmed(call, *f.broker.accept(call, ConfirmationAnswer::agreed));
  ASSERT_TRUE(std::holds_alternative<Grant>(admission));
  EXPECT_EQ(std::get<Grant>(admission).decision().reason, "permitted");
}

TEST(Confirmation, TheTextsTellADeclineFromAnUnansweredQuestion) {
  const Decision decision =
      make_engine(R"({"confirmTier3":true})").decide(make_call("x", Tier::irreversible));
  EXPECT_EQ(declined_text(decision, ConfirmationAnswer::declined),
            "[DENIED tier 3 (IRREVERSIBLE): the person who was asked declined]");
  EXPECT_EQ(declined_text(decision, ConfirmationAnswer::unanswered),
            "[DENIED tier 3 (IRREVERSIBLE): the question was not answered]");
}

// Of two rules with the same effect the first one gives the reason: operators read the file from the top.
TEST(PolicyEngine, TheFirstMatchingRuleOfAnEffectGivesTheReason) {
  const PolicyEngine engine = make_engine(
      R"({"rules":[{"tool":"x","effect":"deny","reason":"first"},{"effect":"deny","reason":"second"}]})");
  EXPECT_EQ(engine.decide(make_call("x", Tier::read_only)).reason, "first");
  EXPECT_EQ(engine.decide(make_call("y", Tier::read_only)).reason, "second");
}

TEST(PolicyEngine, ARuleWithoutAReasonHasOneOfItsEffect) {
  EXPECT_EQ(make_engine(R"({"rules":[{"effect":"deny"}]})").decide(make_call("x", Tier::read_only)).reason,
            "a rule denies this tool to this client");
  EXPECT_EQ(make_engine(R"({"rules":[{"effect":"confirm"}]})").decide(make_call("x", Tier::read_only)).reason,
            "a rule asks for confirmation");
}

// A deny pattern sees everything that a call carries. An allow pattern sees what the call acts on, and is
// enough to have it made.
TEST(PolicyEngine, PatternsSeeTheToolAndItsFields) {
  EXPECT_EQ(make_engine(R"({"deny":["^a b$"]})").decide(make_call("a", Tier::read_only, "b")).verdict,
            Verdict::deny);
  EXPECT_EQ(make_engine(R"({"mode":"guarded","allow":["^a b$"]})")
                .decide(with_fields(make_call("a", Tier::stateful), {{"path", "b"}}))
                .verdict,
            Verdict::allow);
  EXPECT_EQ(make_engine(R"({"deny":["x.y"]})").decide(make_call("a", Tier::read_only, "x\ny")).verdict,
            Verdict::deny);
}

TEST(PolicyEngine, ABrokenPatternAloneStopsEverything) {
  for (const std::string_view policy : {R"({"deny":["("]})", R"({"allow":["("]})"}) {
    std::vector<Problem> problems{{"other", "was there before"}};
    const PolicyEngine engine =
        PolicyEngine::make(read_rules(*json::parse_object(policy), "p", problems), "p", problems);
    EXPECT_EQ(problems.size(), 2U);
    const Decision decision = engine.decide(make_call("x", Tier::read_only));
    EXPECT_EQ(decision.verdict, Verdict::deny);
    EXPECT_EQ(authority::compact_ladder(decision), "deny list* a pattern does not compile");
  }
  std::vector<Problem> problems{{"other", "was there before"}};
  EXPECT_EQ(PolicyEngine::make(Rules{}, "p", problems).decide(make_call("x", Tier::read_only)).verdict,
            Verdict::allow);
}

TEST(Rules, MembersOfTheWrongTypeAreNamed) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {R"({"mode":5})", "policy.mode"},
      {R"({"rules":{}})", "policy.rules"},
      {R"({"rules":[{"effect":"deny","tool":5}]})", "policy.rules[0].tool"},
      {R"({"rules":[{"effect":"deny","client":5}]})", "policy.rules[0].client"},
      {R"({"rules":[{"effect":"deny","reason":5}]})", "policy.rules[0].reason"},
      {R"({"rules":[{"effect":"deny","tier":4}]})", "policy.rules[0].tier"},
      {R"({"rules":[{"effect":"deny","tier":-1}]})", "policy.rules[0].tier"},
      {R"({"rules":[{}]})", "policy.rules[0].effect"},
      {R"({"confirmTier3":1})", "policy.confirmTier3"},
      {R"({"confirmTtlSeconds":4})", "policy.confirmTtlSeconds"},
      {R"({"confirmTtlSeconds":3601})", "policy.confirmTtlSeconds"},
  };
  for (const auto& [text, path] : rows) {
    std::vector<Problem> problems;
    read_rules(*json::parse_object(text), "policy", problems);
    ASSERT_FALSE(problems.empty()) << text;
    EXPECT_EQ(problems[0].path, path) << text;
  }
  for (const std::string_view text : {R"({"confirmTtlSeconds":5})", R"({"confirmTtlSeconds":3600})"}) {
    std::vector<Problem> problems;
    read_rules(*json::parse_object(text), "policy", problems);
    EXPECT_TRUE(problems.empty()) << text;
  }
}

// A mode that cannot be read falls to the strictest one.
TEST(Rules, AnUnknownModeIsReadonly) {
  std::vector<Problem> problems;
  EXPECT_EQ(read_rules(*json::parse_object(R"({"mode":"opne"})"), "policy", problems).mode,
            PolicyMode::readonly);
  EXPECT_EQ(read_rules(*json::parse_object(R"({})"), "policy", problems).confirm_tier3, false);
}

}  // namespace
}  // namespace relay::policy
