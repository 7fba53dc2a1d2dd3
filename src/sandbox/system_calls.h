// The system call filters, by their name in a LaunchPlan.
//
// "server" is for whole programs (Node, Python) in a cage: a deny-list, see server_calls.cc. "engine" is for
// a run child: an allow-list, compiled once in the zygote and loaded by every child. It holds what V8 and the
// run socket need to go on once everything is loaded: memory, time, randomness, reading and writing open
// descriptors. Nothing in it opens, connects, executes, signals or looks around. Whatever is not on the list
// ends the process; the kernel does not ask.
#pragma once

#include <linux/filter.h>

#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::sandbox {

class SystemCallFilter {
 public:
  /// Compiles a list by its name in a LaunchPlan. Allocates, reads no file.
  static Result<SystemCallFilter> compile(std::string_view name);

  /// Puts it in force for this process, for good. Two system calls, no allocation. Needs no_new_privs.
  [[nodiscard]] Result<void> load() const;

  [[nodiscard]] std::size_t instructions() const { return program_.size(); }

 private:
  std::vector<sock_filter> program_;
};

}  // namespace relay::sandbox
