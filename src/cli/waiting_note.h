// What a command waits for, on a terminal: one line on stderr that is written again every second and removed
// when the wait is over. Without a terminal nothing is written.
#pragma once

#include <functional>
#include <string>

#include "io/spawn.h"

namespace relay::cli {

/// Ends the note when it goes.
class WaitingNote {
 public:
  /// `what` is asked each time: "fs (starting)".
  WaitingNote(io::Loop loop, std::function<std::string()> what);
  ~WaitingNote();
  WaitingNote(const WaitingNote&) = delete;
  WaitingNote& operator=(const WaitingNote&) = delete;

 private:
  io::CancelSource cancel_;
  bool has_terminal_;
};

/// Runs the task, with a note while it lasts.
template <class T>
io::Task<T> say_while(io::Task<T> task, std::function<std::string()> what) {
  const WaitingNote note(co_await io::asio::this_coro::executor, std::move(what));
  co_return co_await std::move(task);
}

}  // namespace relay::cli
