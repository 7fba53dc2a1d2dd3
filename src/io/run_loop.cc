#include "io/run_loop.h"

#include <sched.h>

#include <chrono>

namespace relay::io {
namespace {

using std::chrono::steady_clock;

// An answer of a local server comes within this time; what takes longer is worth a sleep.
constexpr auto kMoment = std::chrono::microseconds(200);

bool has_company() {
  cpu_set_t cpus;
  return ::sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 1;
}

// False when nothing came.
bool look_for_work(boost::asio::io_context& loop) {
  const auto end = steady_clock::now() + kMoment;
  do {
    if (loop.poll() > 0) return true;
    ::sched_yield();
  } while (!loop.stopped() && steady_clock::now() < end);
  return false;
}

}  // namespace

void run_loop(boost::asio::io_context& loop) {
  if (!has_company()) return void(loop.run());
  for (bool is_worth_it = false; !loop.stopped();) {
    if (is_worth_it && look_for_work(loop)) continue;
    const auto asleep = steady_clock::now();
    if (loop.run_one() == 0) return;
    is_worth_it = steady_clock::now() - asleep < kMoment;
    loop.poll();
  }
}

}  // namespace relay::io
