// ClientEnding: what was kept for a client between its calls goes when its MCP session ends: named sessions
// of guests, its files. A provider that offers nothing and hears of the end of sessions. Loop thread only.
#pragma once

#include "executors/executor_table.h"
#include "io/thread_pool.h"
#include "pipeline/provider.h"
#include "vfs/workspace.h"

namespace relay::world {

class ClientEnding final : public pipeline::Provider {
 public:
  /// All outlive it. `executors` may be null.
  ClientEnding(vfs::Trees& trees, io::ThreadPool& pool, executors::ExecutorTable* executors)
      : trees_(trees), pool_(pool), executors_(executors) {}
  void session_ended(const authority::Caller& caller) override;

 private:
  vfs::Trees& trees_;
  io::ThreadPool& pool_;
  executors::ExecutorTable* executors_;
};

}  // namespace relay::world
