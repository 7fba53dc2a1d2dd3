#include "authority/effects.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"

namespace relay::authority {
namespace {

Call without_arguments(const Call& call) {
  Call copy;
  copy.request_id = call.request_id;
  copy.caller = call.caller;
  copy.toolset = call.toolset;
  copy.tool = call.tool;
  copy.tier = call.tier;
  return copy;
}

Decision decision_of(const SideEffect& effect, const Call& parent) {
  Decision decision;
  decision.verdict = effect.rung.empty() ? Verdict::allow : Verdict::deny;
  decision.tier = effect.tier;
  decision.ladder = {effect.rung.empty() ? Rung{"parent", true, parent.tool + " was admitted"}
                                         : Rung{effect.rung, true, effect.reason}};
  decision.reason = effect.reason;
  return decision;
}

json::object line_arguments(const SideEffect& effect, std::uint64_t count) {
  json::object args = effect.target;
  if (effect.sent_bytes > 0) args["sentBytes"] = effect.sent_bytes;
  if (effect.received_bytes > 0) args["receivedBytes"] = effect.received_bytes;
  if (count > 1) args["count"] = count;
  return args;
}

std::string key_of(const SideEffect& effect) {
  return fmt::format("{}\n{}\n{}\n{}", effect.tool, name(effect.ending), effect.reason,
                     json::write(effect.target));
}

}  // namespace

Effects::Effects(std::shared_ptr<EffectWriter> writer, const Call& call)
    : writer_(std::move(writer)), call_(without_arguments(call)) {}

// Beyond the limit all effects of a tool have one sum, whose target says so.
Effects::Sum& Effects::sum_of(const SideEffect& effect) {
  std::string key = key_of(effect);
  if (const auto found = sums_.find(key); found != sums_.end()) return found->second;
  if (lines_ < limits::kEffectLines)
    return sums_
        .emplace(std::move(key), Sum{.effect = {.tool = effect.tool,
                                                .tier = effect.tier,
                                                .target = effect.target,
                                                .ending = effect.ending,
                                                .rung = effect.rung,
                                                .reason = effect.reason}})
        .first->second;
  Sum& others = sums_[effect.tool];
  others.effect.tool = effect.tool;
  others.effect.tier = std::max(others.effect.tier, effect.tier);
  others.effect.target = {{"others", true}};
  return others;
}

void Effects::add(SideEffect effect) {
  if (closed_) return write(effect, Detail::one, 1);
  Sum& sum = sum_of(effect);
  ++sum.count;
  sum.effect.sent_bytes += effect.sent_bytes;
  sum.effect.received_bytes += effect.received_bytes;
  if (sum.count > 1 || sum.effect.target.contains("others")) return;
  ++lines_;
  write(effect, Detail::one, 1);
}

void Effects::close() {
  if (std::exchange(closed_, true)) return;
  for (const auto& [key, sum] : sums_)
    if (sum.count > 1 || sum.effect.target.contains("others")) write(sum.effect, Detail::sum, sum.count);
  sums_.clear();
}

void Effects::write(const SideEffect& effect, Detail detail, std::uint64_t count) {
  Call line;
  line.request_id = fmt::format("{}-{}", call_.request_id, ++written_);
  line.caller = call_.caller;
  line.toolset = call_.toolset;
  line.tool = effect.tool;
  line.tier = effect.tier;
  line.args = line_arguments(effect, count);
  line.parent = call_.request_id;
  Outcome outcome =
      effect.reason.empty() ? Outcome{.ending = effect.ending} : make_outcome(effect.ending, effect.reason);
  if (detail == Detail::sum) outcome.action = "sum";
  writer_->write(line, decision_of(effect, call_), outcome);
}

}  // namespace relay::authority
