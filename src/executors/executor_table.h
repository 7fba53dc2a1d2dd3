// ExecutorTable: the places where code can run, and which of them one run goes to.
//
// The call's `executor` decides where it names one, then `executor.requireBrowser`, then the order in which
// the executors were added: the first that can run the runtime. Loop thread only.
#pragma once

#include <string_view>
#include <vector>

#include "executors/executor.h"

namespace relay::executors {

/// Where the configuration lets runs go.
enum class Routing : std::uint8_t { anywhere, browser_only };

class ExecutorTable {
 public:
  explicit ExecutorTable(Routing routing = Routing::anywhere) : routing_(routing) {}

  /// The executor stays the caller's, and must outlive the table.
  void add(Executor& executor) { executors_.push_back(&executor); }
  /// `wanted` is the `executor` of the call, empty where it names none. Fails with NoExecutorAttached and a
  /// sentence that says what to do.
  [[nodiscard]] Result<Executor*> choose(std::string_view wanted, Runtime runtime) const;
  /// Ends the named sessions of an owner who is gone, wherever they are.
  void drop_sessions(std::string_view owner);
  /// Ends every run of every executor.
  void stop();

 private:
  Routing routing_;
  std::vector<Executor*> executors_;
};

}  // namespace relay::executors
