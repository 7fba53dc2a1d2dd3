// RunChild: one forked, walled-in process that waits for a run, and how relay holds it.
//
// Whoever owns a RunChild owns the process: dropping it kills the process at once, by pidfd, which cannot hit
// anybody else. How it ended arrives later from the zygote, which reaps it. Everything it sends is hostile;
// here only the form of frames is checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/fd.h"
#include "base/limits.h"
#include "io/event.h"
#include "io/task.h"
#include "sandbox/wire.h"

namespace relay::executors {

/// How a child ended, in the zygote's words.
struct ChildExit {
  std::optional<int> code;
  std::optional<int> signal;
  double cpu_ms = 0;
  bool zygote_died = false;  // nothing more is known: the zygote was gone first
};

/// "exited with code 70", "was killed by SIGSYS".
std::string describe(const ChildExit& exit);

/// The body of a frame: shared pieces, sent one after the other without being joined.
using FrameBody = std::vector<std::shared_ptr<const std::string>>;

class RunChild {
 public:
  struct State;

  /// Our end of the run socket, non-blocking.
  static std::shared_ptr<State> make_state(const io::Loop& executor, std::int64_t id, Fd socket);

  explicit RunChild(std::shared_ptr<State> state) : state_(std::move(state)) {}
  RunChild(RunChild&&) noexcept = default;
  RunChild& operator=(RunChild&& other) noexcept;
  ~RunChild();

  [[nodiscard]] std::int64_t id() const;
  /// False once the process has ended.
  [[nodiscard]] bool alive() const;
  /// SIGKILL, at once. Once it has ended this does nothing.
  void kill() const;
  /// Waits until the zygote has reaped it, but not for ever: a hung zygote must not hang a run.
  [[nodiscard]] io::Task<ChildExit> wait(std::chrono::steady_clock::duration limit) const;

  /// The next frame; nothing when the child has closed its end. The view lives until the next call.
  [[nodiscard]] io::Task<std::optional<sandbox::FrameView>> receive() const;
  /// True when nothing was received that was not asked for.
  [[nodiscard]] bool quiet() const;

  /// Writes at once what the socket takes and keeps the rest in order; a child that is gone swallows it.
  void post(sandbox::FrameKind kind, std::string header, FrameBody body = {}) const;
  /// What is kept because the child does not read.
  [[nodiscard]] std::size_t unsent_bytes() const;
  /// Waits until little enough is kept.
  [[nodiscard]] io::Task<void> drain(std::size_t unsent_bytes_max) const;

 private:
  std::shared_ptr<State> state_;
};

struct RunChild::State : std::enable_shared_from_this<RunChild::State> {
  State(const io::Loop& executor, std::int64_t number, Fd run_socket);

  void flush();
  void give_up();
  void kill() const;

  std::int64_t id;
  int pid_inside = 0;  // in the zygote's pid namespace
  Fd pidfd;
  boost::asio::posix::stream_descriptor socket;
  sandbox::FrameReader reader{sandbox::FrameSource::child, limits::kFrameBytesFromChild};
  std::deque<std::shared_ptr<const std::string>> unsent;
  std::size_t unsent_offset = 0;  // into the first piece
  std::size_t unsent_bytes = 0;
  bool writing = false;  // waits for the socket
  io::Event progress;
  std::optional<ChildExit> exit;
  io::Event exited;
};

}  // namespace relay::executors
