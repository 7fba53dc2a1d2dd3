// HotPages: the pages that every run writes to, learnt from a trial child before the walls go up.
//
// A forked page is copied when it is first written, and that costs a fault. A child takes all of those copies
// at once while nobody waits for it, so that the run itself finds its pages private already.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "memory_map.h"

namespace relay::zygote {

/// Sleeps for 50 µs. The first switch back to a process that has changed its page tables is expensive under a
/// hypervisor that shadows them (half a millisecond): better now, while nobody waits, than when the next
/// message arrives.
void rest_for_a_moment();

class HotPages {
 public:
  /// Forks a child that does what runs do, and notes which pages became its own. Needs /proc, so call it
  /// before the walls.
  static Result<HotPages> learn(const std::function<Result<void>()>& trial);

  /// In a child: makes them private now, and rests. A page that cannot be had now is copied when it is
  /// written.
  void prepare() const;

 private:
  std::vector<MemoryRange> ranges_;
};

}  // namespace relay::zygote
