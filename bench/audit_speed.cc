// What a record costs: deciding, building it on the loop, chaining it on the writer thread, verifying it
// afterwards.
//   relay-bench-audit      prints one JSON object: nanoseconds per call, and records verified per second
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "audit/chain.h"
#include "audit/verify.h"
#include "policy/engine.h"

namespace {

using namespace relay;

constexpr int kRecords = 200'000;

authority::Call make_call() {
  authority::Call call;
  call.request_id = "req_0123456789abcdef01234567";
  call.caller.principal = "alice";
  call.tool = "server_info";
  call.tier = authority::Tier::read_only;
  call.args = json::object{{"detail", "short"}};
  return call;
}

template <class Body>
double nanoseconds_each(Body body) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRecords; ++i) body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
         kRecords;
}

}  // namespace

int main() {
  std::vector<policy::Problem> problems;
  const policy::PolicyEngine engine = policy::PolicyEngine::make({}, "policy", problems);
  const SystemClock clock;
  const auto grant = std::get<authority::Grant>(engine.admit(make_call()));
  const auto outcome = authority::make_outcome(authority::Ending::ok, "x", 0);
  std::size_t sink = 0;
  const double decide = nanoseconds_each([&] { sink += engine.decide(grant.call()).ladder.size(); });
  const double hash = nanoseconds_each(
      [&] { sink += authority::make_outcome(authority::Ending::ok, "a short output", 0).output_bytes; });
  const double build = nanoseconds_each(
      [&] { sink += audit::make_end(clock.wall(), grant.call(), grant.decision(), outcome).text().size(); });
  std::string log;
  audit::ChainPoint point;
  const double chain =
      nanoseconds_each([&] {
        audit::append_chained(log, audit::make_end(clock.wall(), grant.call(), grant.decision(), outcome),
                              point);
      }) -
      build;
  audit::ChainVerifier verifier;
  std::string_view rest = log;
  const double verify = nanoseconds_each([&] {
    const std::size_t end = rest.find('\n');
    verifier.feed(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  });
  if (!verifier.finish() || verifier.records() != kRecords || sink == 0) return 1;
  std::printf(
      "{\"decide_ns\": %.0f, \"hash_output_ns\": %.0f, \"build_record_ns\": %.0f, \"chain_record_ns\": %.0f, "
      "\"verify_records_per_s\": %.0f}\n",
      decide, hash, build, chain, 1e9 / verify);
  return 0;
}
