// Child processes: started with posix_spawn semantics, talked to through pipes, always reaped. Loop thread
// only.
//
// A child leads its own process group and dies with us (PR_SET_PDEATHSIG). stop() closes its stdin, then
// sends SIGTERM to the group, then SIGKILL. Dropping a Child that still runs kills its group at once and
// reaps it in the background: there is no way to leave a zombie or an orphan behind. A program that cannot be
// started is an Error of spawn(), with what the kernel said.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/fd.h"
#include "base/limits.h"
#include "io/event.h"
#include "io/task.h"

namespace relay::io {

enum class Stdio : std::uint8_t { pipe, null, inherit };

struct ChildSpec {
  std::string program;                             // a path, or a name to look up in PATH
  std::vector<std::string> args;                   // without argv[0]
  std::map<std::string, std::string> environment;  // the whole of it: nothing is inherited
  std::string directory;                           // empty: ours
  Stdio in = Stdio::pipe;
  Stdio out = Stdio::pipe;
  Stdio err = Stdio::pipe;
  std::map<int, int> fds;  // further descriptors: number in the child -> our descriptor
  /// What ends it when it must end, and when we are gone. A program that ends others first takes another
  /// signal; stop() sends SIGKILL after it if that does not help.
  int end_signal = SIGKILL;
};

/// Where the program of a spec is: the path itself, or the first file of that name in PATH that can be run.
/// Fails as spawn does.
Result<std::string> find_program(const ChildSpec& spec);

struct ExitStatus {
  std::optional<int> code;    // set when it exited
  std::optional<int> signal;  // set when a signal ended it

  [[nodiscard]] bool clean() const { return code == 0; }
};

/// "exited with code 3", "was killed by SIGKILL".
std::string describe(const ExitStatus& status);

class Child {
 public:
  /// Fails with what execve said: "no such program" is an error here, not a child that exits with 127.
  static Result<Child> spawn(const Loop& executor, const ChildSpec& spec);

  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  ~Child();

  [[nodiscard]] int pid() const;
  [[nodiscard]] bool running() const;

  /// The pipes. Each may be used by one reader or writer at a time; closed when the child is stopped.
  asio::posix::stream_descriptor& in();
  asio::posix::stream_descriptor& out();
  asio::posix::stream_descriptor& err();
  void close_in();

  /// Waits for the exit; may be called by several coroutines.
  Task<ExitStatus> wait();
  /// To the whole group. A child that is gone already is not an error.
  void signal_group(int signal);
  /// The spec's end_signal, to the whole group.
  void end_group();
  /// Closes stdin, waits a little, SIGTERM, waits `grace`, SIGKILL; returns when it is reaped.
  Task<ExitStatus> stop(std::chrono::steady_clock::duration grace = limits::kTermGrace);

  struct State;

 private:
  explicit Child(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// How many children of this process are alive or not yet reaped, as the kernel counts them.
Result<std::size_t> count_children();

/// Reads newline-delimited text with a limit on the line.
class LineReader {
 public:
  /// Sees the bytes of a line over the limit while they are thrown away.
  using SkippedSink = std::function<void(std::string_view)>;
  explicit LineReader(asio::posix::stream_descriptor& stream, std::size_t max_line_bytes = limits::kLineBytes,
                      SkippedSink on_skipped = {})
      : stream_(stream), max_line_bytes_(max_line_bytes), on_skipped_(std::move(on_skipped)) {}
  /// Without the newline; nothing at the end of the stream. The last line may lack its newline. A line over
  /// the limit is skipped and fails with too_large; the next call reads the line after it.
  Task<std::optional<std::string>> read_line();

 private:
  /// Waits for more; false at the end of the stream.
  Task<bool> fill();
  Task<void> skip_line();

  asio::posix::stream_descriptor& stream_;
  std::size_t max_line_bytes_;
  SkippedSink on_skipped_;
  std::string buffer_;
  std::size_t scanned_ = 0;
};

/// Writes all of it.
Task<void> write_all(asio::posix::stream_descriptor& stream, std::string_view bytes);

}  // namespace relay::io
