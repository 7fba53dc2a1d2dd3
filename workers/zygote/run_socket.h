// The child's end of the run socket: blocking, one thread, frames in and out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "sandbox/wire.h"

namespace relay::zygote {

class RunSocket {
 public:
  explicit RunSocket(int fd);

  /// Returns when the kernel has all of it. An error means that relay is gone.
  Result<void> send(sandbox::FrameKind kind, std::string_view header, std::string_view body);
  /// Waits at most timeout_ms (-1: for ever). Nothing: no whole frame came in time. The view lives until the
  /// next call.
  Result<std::optional<sandbox::FrameView>> receive(double timeout_ms);
  /// True once relay has closed its end, or broke the wire.
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  Result<bool> wait_readable(double timeout_ms) const;
  Result<void> read_some();

  int fd_;
  sandbox::FrameReader reader_;
  bool closed_ = false;
};

}  // namespace relay::zygote
