// The life of a zygote, whatever it hosts: namespaces, boot, walls, fork on request; in each child walls, its
// own pages, one run.
//
//   outer process            waits, and passes on how the inner one ended
//     └ process 1 inside     boots the engine, walls itself in, serves the control socket (fd 3)
//         └ children         one run, or one session, each
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "options.h"
#include "run_socket.h"

namespace relay::zygote {

/// Called with the header of every start frame before the guest sees it: this is where the run's limits are
/// set.
using StartHook = std::function<void(std::string_view header)>;

/// What a zygote boots once and every child inherits.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Does what runs of all kinds do, without a socket: a trial child shows so which pages runs read.
  virtual Result<void> practise() = 0;
  /// Does what an ordinary run does: a trial child shows so which pages every run writes to.
  virtual Result<void> rehearse() = 0;
  /// In a child: serves runs until relay closes the socket. An error is a defect of ours, never the guest's.
  virtual Result<void> serve(RunSocket& socket, StartHook on_start) = 0;
};

/// Runs before the walls: may read files, must end with one thread.
using BootEngine = std::function<Result<std::unique_ptr<Engine>>(const ZygoteOptions& options)>;

/// What to build around it; everybody but a test takes the zygote's plan.
using ChoosePlan = std::function<sandbox::LaunchPlan(const ZygoteOptions& options)>;
sandbox::LaunchPlan choose_zygote_plan(const ZygoteOptions& options);

/// The program: gives its exit code.
int run_worker(int argc, const char* const* argv, const BootEngine& boot,
               const ChoosePlan& choose = choose_zygote_plan);

}  // namespace relay::zygote
