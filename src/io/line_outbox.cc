#include "io/line_outbox.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "io/child.h"

namespace relay::io {

Result<void> LineOutbox::push(std::string_view message) {
  if (closed_ || broken_) return fail(unavailable("the pipe is closed"));
  if (unwritten() + message.size() > unwritten_max_)
    return fail(busy(fmt::format("nobody reads: {} bytes wait already", unwritten())));
  const bool is_first = unwritten() == 0 && !gathering_;
  append_line(message);
  if (is_first) write_now();
  if (!gathering_) changed_.wake();
  return {};
}

// Text from elsewhere may have line breaks between its tokens; inside strings JSON has none.
void LineOutbox::append_line(std::string_view message) {
  const auto begin = static_cast<std::ptrdiff_t>(pending_.size());
  pending_ += message;
  if (message.find_first_of("\r\n") != std::string_view::npos)
    std::replace_if(
        pending_.begin() + begin, pending_.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  pending_ += '\n';
}

void LineOutbox::write_now() {
  boost::system::error_code error;
  if (!pipe_.native_non_blocking()) pipe_.native_non_blocking(true, error);
  const ssize_t written = error ? 0 : ::write(pipe_.native_handle(), pending_.data(), pending_.size());
  if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
  if (pending_.empty()) return gather_for_a_turn();
  // What the pipe refuses for good, run() finds out about when it tries the rest.
}

void LineOutbox::gather_for_a_turn() {
  gathering_ = true;
  asio::post(executor_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->gathering_ = false;
    if (!self->pending_.empty()) self->changed_.wake();
  });
}

Task<void> LineOutbox::run() {
  const auto self = shared_from_this();
  while (!closed_ || !pending_.empty()) {
    if (pending_.empty()) {
      drained_.set();
      co_await changed_.wait();
      continue;
    }
    const std::string batch = std::exchange(pending_, {});
    writing_ = batch.size();
    auto written = co_await write_all(pipe_, batch);
    writing_ = 0;
    if (written) continue;
    broken_ = true;
    drained_.set();
    co_return written;
  }
  drained_.set();
  co_return Result<void>{};
}

void LineOutbox::close() {
  closed_ = true;
  changed_.wake();
}

void LineOutbox::abandon() {
  pending_.clear();
  close();
}

Task<bool> LineOutbox::wait_until_drained(std::chrono::steady_clock::time_point deadline) {
  const auto self = shared_from_this();
  if (unwritten() == 0 || broken_) co_return true;
  drained_.clear();
  changed_.wake();
  co_return co_await drained_.wait_until(deadline);
}

}  // namespace relay::io
