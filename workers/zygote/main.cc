// relay-zygote: boots one WebAssembly runtime inside V8, walls itself in, then forks a child for every run that relay
// asks for. worker.h has its life.
#include <unistd.h>

#include <cstdio>

#include "v8_host.h"
#include "worker.h"

namespace {

using namespace relay::zygote;

constexpr int kWarmUpRounds = 8;

relay::Result<std::unique_ptr<Engine>> boot(const Options& options) {
  const V8Options engine{.bundle = options.runtime_dir + "/zygote-" + options.kind + ".js",
                         .runtime_dir = options.runtime_dir,
                         .cache = options.mode == Mode::make_cache ? CacheUse::make : CacheUse::read};
  RELAY_TRY(V8Host host, V8Host::boot(engine));
  // What runs often is compiled here, once, instead of in every child.
  for (int round = 0; round < kWarmUpRounds; ++round) RELAY_CHECK(host.warm_up());
  host.settle();
  return std::make_unique<V8Host>(std::move(host));
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run_worker(argc, argv, boot);
  std::fflush(nullptr);
  ::_exit(status);  // V8 is not torn down: its destructors would only cost time
}
