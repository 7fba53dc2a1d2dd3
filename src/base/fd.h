// Fd: one owned file descriptor. The owner is whoever holds the object: it is closed when the object goes out
// of scope, and moved but never copied. A failure of close(2) is not reported, so what must be on disk is
// synced before.
#pragma once

#include <utility>

#include "base/result.h"

namespace relay {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  /// Gives up ownership; the caller closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

struct FdPair {
  Fd first;   // the reading end of a pipe, or our end of a socket pair
  Fd second;  // the writing end of a pipe, or the other end of a socket pair
};

/// Both ends close on exec.
Result<FdPair> open_pipe();
Result<FdPair> open_socket_pair(int type);
Result<void> set_nonblocking(const Fd& fd);

}  // namespace relay
