#include "app/refusal_book.h"

#include "io/spawn.h"

namespace relay::app {
namespace {

using What = fetch::BlockedFetch::What;

constexpr std::array kWhats = {What::url, What::redirect, What::address, What::body, What::flood};
constexpr std::size_t kLinesOfOneRun = 100;

authority::Ending ending_of(What what) {
  switch (what) {
    case What::url:
    case What::redirect:
    case What::address: return authority::Ending::denied;
    case What::body: return authority::Ending::too_large;
    case What::flood: return authority::Ending::busy;
  }
  return authority::Ending::denied;
}

authority::Decision decision_of(const fetch::BlockedFetch& refusal) {
  authority::Decision decision;
  decision.verdict = authority::Verdict::deny;
  decision.tier = authority::Tier::read_only;
  decision.ladder = {{.name = "network", .matched = true, .detail = refusal.reason}};
  decision.reason = refusal.reason;
  return decision;
}

io::Task<void> write_line(audit::Journal& journal, authority::Call call, authority::Decision decision,
                          authority::Outcome outcome) {
  co_return co_await journal.refuse(call, decision, std::move(outcome));
}

}  // namespace

authority::Call refused_call(const fetch::BlockedFetch& refusal, const authority::Call& run) {
  authority::Call call;
  call.caller = run.caller;
  call.toolset = run.toolset;
  call.tool = "fetch";
  call.tier = authority::Tier::read_only;
  call.parent = run.request_id;
  json::object args{{"what", fetch::name_of(refusal.what)}};
  if (!refusal.host.empty()) args["host"] = refusal.host;
  if (!refusal.network.empty()) args["network"] = refusal.network;
  call.args = std::move(args);
  return call;
}

void RefusalBook::add(const fetch::BlockedFetch& refusal, const authority::Call& run, std::size_t nth) {
  ++counts_.at(static_cast<std::size_t>(refusal.what));
  if (nth > kLinesOfOneRun) return;
  log_.warn("fetch refused", {{"runRequestId", run.request_id},
                              {"what", fetch::name_of(refusal.what)},
                              {"host", refusal.host},
                              {"network", refusal.network},
                              {"reason", refusal.reason}});
  authority::Call call = refused_call(refusal, run);
  call.request_id = make_id(random_, "req_");
  io::spawn(loop_,
            write_line(journal_, std::move(call), decision_of(refusal),
                       authority::make_outcome(ending_of(refusal.what), refusal.reason)),
            "audit a refusal");
}

void RefusalBook::measure(metrics::Registry& metrics) const {
  for (const What what : kWhats)
    metrics.add_counter(
        "relay_fetch_refusals_total", "Requests of guests that policy or a limit refused",
        [this, what] { return static_cast<double>(counts_.at(static_cast<std::size_t>(what))); },
        {{"what", std::string(fetch::name_of(what))}});
}

}  // namespace relay::app
