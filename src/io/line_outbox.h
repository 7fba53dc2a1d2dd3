// LineOutbox: whole lines to a pipe, in order, from any number of callers.
//
// The first line of a turn of the loop goes to the pipe at once; those that follow in the same turn, and
// those that the pipe does not take, are gathered and written together by run(). So one caller is answered
// without a detour, and many share a write. Loop thread only. The pipe must outlive the last call of push and
// the coroutine; close() before it goes.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "io/event.h"
#include "io/task.h"
#include "io/waker.h"

namespace relay::io {

class LineOutbox : public std::enable_shared_from_this<LineOutbox> {
 public:
  LineOutbox(Loop executor, asio::posix::stream_descriptor& pipe, std::size_t unwritten_max)
      : executor_(executor),
        pipe_(pipe),
        unwritten_max_(unwritten_max),
        changed_(executor),
        drained_(executor) {}

  /// Takes one message without its line break; breaks between its tokens become spaces. Fails, and takes
  /// nothing, when the outbox is closed or the reader is too far behind.
  Result<void> push(std::string_view message);
  /// Writes what waits, until the outbox is closed and empty. Fails when nobody reads any more.
  Task<void> run();
  /// Nothing more is taken; run() ends when what waits is written.
  void close();
  /// Forgets what waits, for a pipe that is about to go.
  void abandon();
  /// False when the time passed first.
  Task<bool> wait_until_drained(std::chrono::steady_clock::time_point deadline);

  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] std::size_t unwritten() const { return pending_.size() + writing_; }

 private:
  void append_line(std::string_view message);
  void write_now();
  void gather_for_a_turn();

  Loop executor_;
  asio::posix::stream_descriptor& pipe_;
  std::size_t unwritten_max_;
  std::string pending_;
  std::size_t writing_ = 0;
  bool gathering_ = false;  // a line went out in this turn; the next ones wait for its end
  bool closed_ = false;
  bool broken_ = false;
  Waker changed_;
  Event drained_;
};

}  // namespace relay::io
