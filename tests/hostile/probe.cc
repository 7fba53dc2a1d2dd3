// relay-probe: a zygote without an engine. Its children live in exactly the walls of a run, with nothing
// between them and the kernel: the start frame's code names what to try. For tests only.
//
// --runtime-dir "without-filter" leaves the system call filter out, to show that the other walls hold without
// it.
#include <unistd.h>

#include <vector>

#include "attempts.h"
#include "base/json.h"
#include "confine.h"
#include "worker.h"

namespace {

using namespace relay;
using namespace relay::zygote;

std::string attempt_named(std::string_view name) {
  const auto entry = hostile::attempts().find(std::string(name));
  return entry == hostile::attempts().end() ? "no such attempt" : entry->second();
}

class Probe final : public Engine {
 public:
  Result<void> practise() override { return {}; }
  Result<void> rehearse() override { return {}; }
  Result<void> serve(RunSocket& socket, StartHook on_start) override {
    for (;;) {
      RELAY_TRY(const auto frame, socket.receive(-1));
      if (!frame || frame->kind != sandbox::FrameKind::start) continue;
      on_start(frame->header);
      const std::string name(frame->body);
      if (name.starts_with(
              "raw ")) {  // bytes for the wire itself: what comes out of a child that was taken over
        const std::string bytes = name.substr(4);
        [[maybe_unused]] const auto ignored = ::write(kRunSocket, bytes.data(), bytes.size());
        continue;
      }
      const json::object done{{"exitCode", 0}, {"value", attempt_named(name)}};
      RELAY_CHECK(socket.send(sandbox::FrameKind::done, json::write(done), {}));
    }
  }
};

sandbox::LaunchPlan choose(const ZygoteOptions& options) {
  sandbox::LaunchPlan plan = sandbox::make_zygote_plan(options.level);
  if (options.runtime_dir == "without-filter") std::erase(plan.walls, sandbox::Wall::system_call_filter);
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  const auto boot = [](const ZygoteOptions&) -> Result<std::unique_ptr<Engine>> {
    return std::make_unique<Probe>();
  };
  ::_exit(run_worker(argc, argv, boot, choose));
}
