// Practice: a run socket that leads nowhere, for the warm-up before the first fork.
//
// The harness serves practice runs through the very functions that serve real ones, so what V8 compiles,
// caches and assumes about types in the zygote is what every child needs. Frames come from the harness
// itself; every call of a practice program is answered with "no such file".
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/wire.h"

namespace relay::zygote {

class Practice {
 public:
  void start(std::string header, std::string body);
  /// What a real socket would have sent away.
  void send(sandbox::FrameKind kind, std::string_view header);
  /// The next frame; nothing while only the start of the next run is there and the run that goes on merely
  /// polls. The view lives until the next call.
  std::optional<sandbox::FrameView> receive(double timeout_ms);

  /// False when the first run did not end well.
  [[nodiscard]] bool passed() const { return first_done_.find("\"exitCode\":0") != std::string::npos; }
  [[nodiscard]] const std::string& first_done() const { return first_done_; }
  void clear();

 private:
  struct Frame {
    sandbox::FrameKind kind;
    std::string header;
    std::string body;
  };
  std::deque<Frame> frames_;
  Frame shown_{};
  std::string first_done_;
};

}  // namespace relay::zygote
