#include "peer/stdio_wire.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "io/line_outbox.h"
#include "io/spawn.h"
#include "peer/peer_params.h"
#include "peer/stdio_lines.h"

namespace relay::peer {
namespace {

using Descriptor = io::asio::posix::stream_descriptor;

constexpr std::size_t kUnwrittenBytes = 2 * limits::kMessageBytes;  // kept for a server that does not read
constexpr std::size_t kReadBytes = 64 * limits::kKiB;               // what a pipe holds
constexpr auto kLastWords =
    std::chrono::milliseconds(200);  // for what is unwritten when the connection is closed

io::Task<void> write_lines(std::shared_ptr<io::LineOutbox> outbox, std::weak_ptr<WireListener> listener) {
  const auto written = co_await outbox->run();
  if (written) co_return Result<void>{};
  if (const auto heard = listener.lock()) heard->lost(unavailable("the server no longer reads its stdin"));
  co_return Result<void>{};
}

void take_line(WireListener& listener, StdioLine line) {
  if (!line.over_limit) return listener.take(std::move(line.text), std::nullopt);
  const Error error = too_large(fmt::format("the server sent a line of {} bytes; at most {} are taken",
                                            line.bytes, limits::kLineBytes));
  listener.oddity(error.message);
  if (const auto id = find_spelled_id(line.text, line.tail)) listener.fail_request(*id, error);
}

io::Task<void> read_lines(Descriptor& in, std::weak_ptr<WireListener> listener) {
  StdioLines lines;
  const auto buffer = std::make_unique<std::array<char, kReadBytes>>();
  while (true) {
    boost::system::error_code error;
    const std::size_t got = co_await in.async_read_some(
        io::asio::buffer(*buffer), io::asio::redirect_error(io::asio::use_awaitable, error));
    if (error == io::asio::error::operation_aborted) throw boost::system::system_error(error);
    const auto heard = listener.lock();
    if (!heard) co_return Result<void>{};
    if (error) {
      for (StdioLine& line : lines.feed("\n"))
        take_line(*heard, std::move(line));  // the last one may lack its break
      heard->lost(unavailable(error == io::asio::error::eof ? "the server ended its stdout"
                                                            : "reading from the server: " + error.message()));
      co_return Result<void>{};
    }
    for (StdioLine& line : lines.feed({buffer->data(), got})) take_line(*heard, std::move(line));
  }
}

class StdioWire final : public Wire {
 public:
  StdioWire(io::Loop executor, io::Child& child)
      : executor_(std::move(executor)),
        child_(&child),
        outbox_(std::make_shared<io::LineOutbox>(executor_, child.in(), kUnwrittenBytes)) {}
  ~StdioWire() override { drop(); }

  void listen(std::weak_ptr<WireListener> listener) override {
    io::spawn(executor_, read_lines(child_->out(), listener), "upstream stdout", reading_);
    io::spawn(executor_, write_lines(outbox_, std::move(listener)), "upstream stdin", writing_);
  }
  Result<void> send(WireRequest request) override { return push(request.text); }
  io::Task<void> deliver(std::string message) override { co_return push(message); }
  void abandon(RequestId) override {}
  [[nodiscard]] Cancelling cancelling() const override { return Cancelling::by_notification; }

  io::Task<void> close() override {
    const auto outbox = outbox_;
    RELAY_CO_CHECK(co_await outbox->wait_until_drained(std::chrono::steady_clock::now() + kLastWords));
    if (child_) child_->close_in();
    co_return Result<void>{};
  }
  void drop() override {
    if (!child_) return;
    child_ = nullptr;
    outbox_->abandon();
    reading_.cancel();
    writing_.cancel();
  }

 private:
  Result<void> push(std::string_view message) {
    auto taken = outbox_->push(message);
    if (taken || taken.error().kind != ErrorKind::busy)
      return taken ? taken : fail(unavailable("the connection to the server is closed"));
    return fail(
        busy(fmt::format("the server does not read: {} bytes wait for it already", outbox_->unwritten())));
  }

  io::Loop executor_;
  io::Child* child_;
  std::shared_ptr<io::LineOutbox> outbox_;
  io::CancelSource reading_, writing_;
};

}  // namespace

std::shared_ptr<Wire> make_stdio_wire(io::Loop executor, io::Child& child) {
  return std::make_shared<StdioWire>(std::move(executor), child);
}

}  // namespace relay::peer
