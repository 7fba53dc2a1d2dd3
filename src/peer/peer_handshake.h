// Handshake: holds a dialogue while its handshake is under way, and ends it when that fails.
#pragma once

#include <memory>

#include "peer/peer_dialogue.h"

namespace relay::peer {

/// Ends the dialogue when it is destroyed before the handshake succeeded, so that no coroutine holds on to
/// the wire.
class Handshake {
 public:
  explicit Handshake(std::shared_ptr<Dialogue> dialogue) : dialogue_(std::move(dialogue)) {}
  ~Handshake() {
    if (dialogue_) dialogue_->end(cancelled("the handshake failed"));
  }
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  [[nodiscard]] const std::shared_ptr<Dialogue>& dialogue() const { return dialogue_; }
  void succeeded() { dialogue_.reset(); }

 private:
  std::shared_ptr<Dialogue> dialogue_;
};

}  // namespace relay::peer
