// OpenCalls: the requests that run now, of both eras and all transports. When the server stops, each is
// cancelled and still gets an answer, which says so. Loop thread only. The server makes it; each request that
// runs holds it, because one that never ended is destroyed with the loop, after the server.
#pragma once

#include <list>
#include <memory>

#include "io/event.h"
#include "io/spawn.h"

namespace relay::mcp {

class OpenCalls {
 public:
  explicit OpenCalls(const io::Loop& executor) : ended_(executor) {}

  /// One request, from its start until its answer was given.
  class Entry {
   public:
    Entry(std::shared_ptr<OpenCalls> calls, io::CancelSource cancel);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    std::shared_ptr<OpenCalls> calls_;
    std::list<io::CancelSource>::iterator place_;
  };

  /// From now on a call that is cancelled is answered with "the server is stopping", and so is a new one.
  [[nodiscard]] bool is_stopping() const { return stopping_; }
  /// Cancels all; completes when the last has been answered.
  io::Task<void> stop();
  [[nodiscard]] std::size_t size() const { return calls_.size(); }

 private:
  std::list<io::CancelSource> calls_;
  bool stopping_ = false;
  io::Event ended_;  // the last one has ended
};

}  // namespace relay::mcp
