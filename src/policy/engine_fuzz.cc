// "pattern\ntext": any deny pattern either does not compile, and then nothing is admitted, or denies exactly
// what it matches.
#include <cstdint>
#include <cstdlib>

#include <re2/re2.h>

#include "policy/engine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay;
  const std::string_view text(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 4096));
  const std::size_t split = std::min(text.find('\n'), text.size());
  policy::Rules rules;
  rules.deny.emplace_back(text.substr(0, split));
  std::vector<policy::Problem> problems;
  const policy::PolicyEngine engine = policy::PolicyEngine::make(std::move(rules), "policy", problems);
  authority::Call call;
  call.tool = "t";
  call.policy_text = std::string(text.substr(std::min(split + 1, text.size())));
  const authority::Decision decision = engine.decide(call);
  if (!problems.empty() && decision.verdict != authority::Verdict::deny) std::abort();
  std::size_t deciding = 0;
  const auto ladder = authority::parse_compact_ladder(authority::compact_ladder(decision), deciding);
  if (ladder.size() != decision.ladder.size() || deciding != decision.deciding) std::abort();
  return 0;
}
