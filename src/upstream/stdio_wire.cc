#include "upstream/stdio_wire.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "io/spawn.h"
#include "io/waker.h"
#include "upstream/peer_params.h"
#include "upstream/stdio_lines.h"

namespace relay::upstream {
namespace {

using Descriptor = io::asio::posix::stream_descriptor;

constexpr std::size_t kUnwrittenBytes = 2 * limits::kMessageBytes;  // kept for a server that does not read
constexpr std::size_t kReadBytes = 64 * limits::kKiB;               // what a pipe holds
constexpr auto kLastWords = std::chrono::milliseconds(200);         // for what is unwritten when the connection is closed

// Lines that wait for the pipe. Shared by the wire and the coroutine that writes, which may outlive it by a turn.
struct Outbox {
  explicit Outbox(const io::Executor& executor) : changed(executor), empty(executor) {}
  std::string pending;
  std::size_t writing = 0;
  bool closed = false;
  io::Waker changed;
  io::Event empty;
};

// Text from elsewhere may have line breaks between its tokens; inside strings JSON has none.
void append_line(std::string& out, std::string_view message) {
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  out += message;
  if (message.find_first_of("\r\n") != std::string_view::npos)
    std::replace_if(out.begin() + begin, out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  out += '\n';
}

io::Task<void> write_lines(std::shared_ptr<Outbox> outbox, Descriptor& out, std::weak_ptr<WireListener> listener) {
  while (!outbox->closed) {
    if (outbox->pending.empty()) {
      outbox->empty.set();
      co_await outbox->changed.wait();
      continue;
    }
    const std::string batch = std::exchange(outbox->pending, {});
    outbox->writing = batch.size();
    const auto written = co_await io::write_all(out, batch);
    outbox->writing = 0;
    if (written) continue;
    outbox->closed = true;
    outbox->empty.set();
    if (const auto heard = listener.lock()) heard->lost(unavailable("the server no longer reads its stdin"));
  }
  co_return Result<void>{};
}

void take_line(WireListener& listener, StdioLine line) {
  if (!line.over_limit) return listener.take(std::move(line.text), std::nullopt);
  const Error error = too_large(fmt::format("the server sent a line of {} bytes; at most {} are taken", line.bytes, limits::kLineBytes));
  listener.oddity(error.message);
  if (const auto id = find_spelled_id(line.text, line.tail)) listener.fail_request(*id, error);
}

io::Task<void> read_lines(Descriptor& in, std::weak_ptr<WireListener> listener) {
  StdioLines lines;
  const auto buffer = std::make_unique<std::array<char, kReadBytes>>();
  while (true) {
    boost::system::error_code error;
    const std::size_t got = co_await in.async_read_some(io::asio::buffer(*buffer), io::asio::redirect_error(io::asio::use_awaitable, error));
    if (error == io::asio::error::operation_aborted) throw boost::system::system_error(error);
    const auto heard = listener.lock();
    if (!heard) co_return Result<void>{};
    if (error) {
      for (StdioLine& line : lines.feed("\n")) take_line(*heard, std::move(line));  // the last one may lack its break
      heard->lost(unavailable(error == io::asio::error::eof ? "the server ended its stdout" : "reading from the server: " + error.message()));
      co_return Result<void>{};
    }
    for (StdioLine& line : lines.feed({buffer->data(), got})) take_line(*heard, std::move(line));
  }
}

class StdioWire final : public Wire {
 public:
  StdioWire(io::Executor executor, io::Child& child)
      : executor_(std::move(executor)), child_(&child), outbox_(std::make_shared<Outbox>(executor_)) {}
  ~StdioWire() override { drop(); }

  void listen(std::weak_ptr<WireListener> listener) override {
    io::spawn(executor_, read_lines(child_->out(), listener), "upstream stdout", reading_);
    io::spawn(executor_, write_lines(outbox_, child_->in(), std::move(listener)), "upstream stdin", writing_);
  }
  Result<void> send(WireRequest request) override { return push(request.text); }
  io::Task<void> deliver(std::string message) override { co_return push(message); }
  void abandon(RequestId) override {}
  [[nodiscard]] Cancelling cancelling() const override { return Cancelling::by_notification; }

  io::Task<void> close() override {
    const auto outbox = outbox_;
    if (!outbox->closed) {
      outbox->empty.clear();
      outbox->changed.wake();
      RELAY_CO_CHECK(co_await outbox->empty.wait_until(std::chrono::steady_clock::now() + kLastWords));
    }
    if (child_) child_->close_in();
    co_return Result<void>{};
  }
  void drop() override {
    if (!child_) return;
    child_ = nullptr;
    outbox_->closed = true;
    reading_.cancel();
    writing_.cancel();
  }

 private:
  Result<void> push(std::string_view message) {
    if (outbox_->closed) return fail(unavailable("the connection to the server is closed"));
    if (outbox_->pending.size() + outbox_->writing + message.size() > kUnwrittenBytes)
      return fail(busy(fmt::format("the server does not read: {} bytes wait for it already", outbox_->pending.size() + outbox_->writing)));
    append_line(outbox_->pending, message);
    outbox_->changed.wake();
    return {};
  }

  io::Executor executor_;
  io::Child* child_;
  std::shared_ptr<Outbox> outbox_;
  io::CancelSource reading_, writing_;
};

}  // namespace

std::shared_ptr<Wire> make_stdio_wire(io::Executor executor, io::Child& child) {
  return std::make_shared<StdioWire>(std::move(executor), child);
}

}  // namespace relay::upstream
