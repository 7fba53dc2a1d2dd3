// HotPages: the pages that every run writes to, learnt from a trial child before the walls go up.
//
// A forked page is copied when it is first written, and that costs a fault. A child takes all of those copies at once while
// nobody waits for it, so that the run itself finds its pages private already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"

namespace relay::zygote {

class HotPages {
 public:
  /// Forks a child that does what runs do, and notes which pages became its own. Needs /proc, so call it before the walls.
  static Result<HotPages> learn(const std::function<Result<void>()>& trial);

  /// In a child: makes them private now. A page that cannot be had now is copied when it is written.
  void prepare() const;

  [[nodiscard]] std::size_t bytes() const;

  struct Range {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
  };

 private:
  std::vector<Range> ranges_;
};

}  // namespace relay::zygote
