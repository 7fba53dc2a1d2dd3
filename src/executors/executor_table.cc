#include "executors/executor_table.h"

#include <fmt/format.h>

namespace relay::executors {
namespace {

constexpr std::string_view kBrowser = "browser";

Error no_executor(std::string message) {
  return Error{ErrorKind::no_executor, Blame::environment, std::move(message)};
}

}  // namespace

Result<Executor*> ExecutorTable::choose(std::string_view wanted, Runtime runtime) const {
  const bool only_browser = routing_ == Routing::browser_only;
  if (only_browser && !wanted.empty() && wanted != kBrowser)
    return fail(
        no_executor(fmt::format("executor.requireBrowser in the configuration lets no run go to "
                                "\"{}\"; leave \"executor\" out",
                                wanted)));
  for (Executor* executor : executors_) {
    if (!wanted.empty() && executor->name() != wanted) continue;
    if (only_browser && executor->name() != kBrowser) continue;
    if (executor->can_run(runtime)) return executor;
  }
  if (only_browser)
    return fail(
        no_executor("no browser tab is attached, and executor.requireBrowser in the configuration "
                    "lets no run go elsewhere"));
  if (wanted == kBrowser)
    return fail(no_executor("no browser tab is attached; leave \"executor\" out to run here"));
  return fail(no_executor(fmt::format("nothing here runs {}", name_of(runtime))));
}

void ExecutorTable::drop_sessions(std::string_view owner) {
  for (Executor* executor : executors_) executor->drop_sessions(owner);
}

void ExecutorTable::stop() {
  for (Executor* executor : executors_) executor->stop();
}

}  // namespace relay::executors
