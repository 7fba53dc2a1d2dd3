// relay-zygote: boots one WebAssembly runtime inside V8, walls itself in, then forks a child for every run
// that relay asks for. worker.h has its life.
#include <unistd.h>

#include <cstdio>

#include "memory_image.h"
#include "v8_host.h"
#include "worker.h"

namespace {

using namespace relay::zygote;

// The first rounds compile; collecting garbage afterwards also forgets what V8 has learnt about types, so the
// second rounds teach it again and let it optimise.
constexpr int kRoundsBeforeCollection = 3;
constexpr int kRoundsAfterCollection = 10;

relay::Result<void> practise(V8Host& host, int rounds) {
  for (int round = 0; round < rounds; ++round) RELAY_CHECK(host.practise());
  return {};
}

relay::Result<std::unique_ptr<Engine>> boot(const ZygoteOptions& options) {
  const V8Options engine{.bundle = options.runtime_dir + "/zygote-" + options.kind + ".js",
                         .runtime_dir = options.runtime_dir,
                         .cache = options.mode == ZygoteMode::make_cache ? CacheUse::make : CacheUse::read};
  RELAY_TRY(V8Host host, V8Host::boot(engine));
  RELAY_CHECK(practise(host, kRoundsBeforeCollection));
  host.settle();
  RELAY_CHECK(practise(host, kRoundsAfterCollection));
  RELAY_CHECK(forget_program_pages());
  RELAY_CHECK(practise(host, 1));
  return std::make_unique<V8Host>(std::move(host));
}

}  // namespace

int main(int argc, char** argv) {
  const int status = run_worker(argc, argv, boot);
  std::fflush(nullptr);
  ::_exit(status);  // V8 is not torn down: its destructors would only cost time
}
