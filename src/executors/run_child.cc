#include "executors/run_child.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace relay::executors {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kReadBytes = 64 * limits::kKiB;
constexpr std::size_t kPiecesAtOnce = 16;

// A socket that fails or ends is the child's end; only our own cancellation is an exception.
bool has_ended(const boost::system::error_code& error) {
  if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
  return static_cast<bool>(error);
}

}  // namespace

std::string describe(const ChildExit& exit) {
  if (exit.zygote_died) return "ended together with its zygote";
  if (exit.signal)
    return fmt::format("was killed by SIG{}", sigabbrev_np(*exit.signal) ? sigabbrev_np(*exit.signal) : "?");
  return fmt::format("exited with code {}", exit.code.value_or(-1));
}

RunChild::State::State(const io::Loop& executor, std::int64_t number, Fd run_socket)
    : id(number), socket(executor, run_socket.release()), progress(executor), exited(executor) {}

std::shared_ptr<RunChild::State> RunChild::make_state(const io::Loop& executor, std::int64_t id, Fd socket) {
  return std::make_shared<State>(executor, id, std::move(socket));
}

RunChild& RunChild::operator=(RunChild&& other) noexcept {
  if (this != &other) {
    const RunChild old(std::move(state_));
    state_ = std::move(other.state_);
  }
  return *this;
}

RunChild::~RunChild() {
  if (!state_) return;
  kill();
  state_->give_up();
  boost::system::error_code ignored;
  state_->socket.close(ignored);  // NOLINT: closed already is as good
}

std::int64_t RunChild::id() const {
  return state_->id;
}

bool RunChild::alive() const {
  if (state_->exit) return false;
  pollfd ended{state_->pidfd.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

void RunChild::State::kill() const {
  if (!exit && pidfd.is_open()) ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
}

void RunChild::kill() const {
  state_->kill();
}

io::Task<ChildExit> RunChild::wait(std::chrono::steady_clock::duration limit) const {
  const std::shared_ptr<State> state = state_;
  RELAY_CO_TRY(const bool known, co_await state->exited.wait_until(std::chrono::steady_clock::now() + limit));
  if (!known) co_return fail(unavailable("a zygote does not say how its child ended"));
  co_return *state->exit;
}

io::Task<std::optional<sandbox::FrameView>> RunChild::receive() const {
  const std::shared_ptr<State> state = state_;
  for (;;) {
    RELAY_CO_TRY(const std::optional<sandbox::FrameView> frame, state->reader.next());
    if (frame) co_return frame;
    const std::size_t room = std::max(kReadBytes, state->reader.missing_bytes());
    boost::system::error_code error;
    const std::size_t got = co_await state->socket.async_read_some(
        asio::buffer(state->reader.prepare(room), room), asio::redirect_error(asio::use_awaitable, error));
    state->reader.commit(got);
    if (has_ended(error)) co_return std::optional<sandbox::FrameView>{};
  }
}

bool RunChild::quiet() const {
  char byte = 0;
  return state_->reader.empty() &&
         ::recv(state_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

void RunChild::post(sandbox::FrameKind kind, std::string header, FrameBody body) const {
  std::size_t body_bytes = 0;
  for (const auto& piece : body) body_bytes += piece->size();
  std::string head = sandbox::make_frame_prefix(kind, header.size(), body_bytes) + header;
  state_->unsent_bytes += head.size() + body_bytes;
  state_->unsent.push_back(std::make_shared<const std::string>(std::move(head)));
  for (auto& piece : body)
    if (!piece->empty()) state_->unsent.push_back(std::move(piece));
  if (!state_->writing) state_->flush();
}

std::size_t RunChild::unsent_bytes() const {
  return state_->unsent_bytes;
}

io::Task<void> RunChild::drain(std::size_t unsent_bytes_max) const {
  const std::shared_ptr<State> state = state_;
  while (state->unsent_bytes > unsent_bytes_max) {
    state->progress.clear();
    RELAY_CO_CHECK(co_await state->progress.wait());
  }
  co_return Result<void>{};
}

void RunChild::State::give_up() {
  unsent.clear();
  unsent_bytes = unsent_offset = 0;
  progress.set();
}

void RunChild::State::flush() {
  writing = false;
  while (!unsent.empty() && socket.is_open()) {
    iovec pieces[kPiecesAtOnce];
    msghdr message{};
    message.msg_iov = pieces;
    for (const auto& piece : unsent) {
      if (message.msg_iovlen == kPiecesAtOnce) break;
      pieces[message.msg_iovlen++] = {const_cast<char*>(piece->data()), piece->size()};
    }
    pieces[0].iov_base = static_cast<char*>(pieces[0].iov_base) + unsent_offset;
    pieces[0].iov_len -= unsent_offset;
    const ssize_t sent = ::sendmsg(socket.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) {
      writing = true;
      socket.async_wait(asio::posix::stream_descriptor::wait_write,
                        [self = shared_from_this()](const boost::system::error_code& error) {
                          error ? self->give_up() : self->flush();
                        });
      return;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return give_up();
    unsent_bytes -= static_cast<std::size_t>(sent);
    unsent_offset += static_cast<std::size_t>(sent);
    while (!unsent.empty() && unsent_offset >= unsent.front()->size()) {
      unsent_offset -= unsent.front()->size();
      unsent.pop_front();
    }
    progress.set();
  }
}

}  // namespace relay::executors
