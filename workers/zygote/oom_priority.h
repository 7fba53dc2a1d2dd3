// Whom the kernel kills when memory runs out, on the machine or in our control group: a child, never the
// zygote, whose end would be the end of all of them.
//
// The preference is inherited by fork and /proc is gone behind the walls, so the zygote holds its own entry
// open and changes it around each fork.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace relay::zygote {

class OomPriority {
 public:
  /// Before confine_zygote takes /proc away.
  static Result<OomPriority> open();
  /// What is forked now is the first to go.
  void children_first() const;
  void as_before() const;

 private:
  OomPriority(Fd entry, std::string before) : entry_(std::move(entry)), before_(std::move(before)) {}
  void write(std::string_view score) const;

  Fd entry_;
  std::string before_;
};

}  // namespace relay::zygote
