#include "world/refusal_book.h"

#include <utility>

namespace relay::world {
namespace {

using What = fetch::BlockedFetch::What;

constexpr std::array kWhats = {What::url, What::redirect, What::address, What::body, What::flood};
constexpr std::size_t kLinesOfOneRun = 100;

}  // namespace

void RefusalBook::add(const fetch::BlockedFetch& refusal, const authority::Call& run) {
  ++counts_.at(static_cast<std::size_t>(refusal.what));
  if (std::exchange(last_run_, run.request_id) != run.request_id) lines_ = 0;
  if (++lines_ > kLinesOfOneRun) return;
  log_.warn("fetch refused", {{"runRequestId", run.request_id},
                              {"what", fetch::name_of(refusal.what)},
                              {"host", refusal.host},
                              {"network", refusal.network},
                              {"reason", refusal.reason}});
}

void RefusalBook::measure(metrics::Registry& metrics) const {
  for (const What what : kWhats)
    metrics.add_counter(
        "relay_fetch_refusals_total", "Requests of guests that policy or a limit refused",
        [this, what] { return static_cast<double>(counts_.at(static_cast<std::size_t>(what))); },
        {{"what", std::string(fetch::name_of(what))}});
}

}  // namespace relay::world
