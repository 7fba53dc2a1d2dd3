// ModernListen: the one stream on which a modern server tells what has changed.
//
// A filter is fixed for the life of a stream: when it changes, a new stream is opened first and the old one
// closed when the new one is acknowledged, so that nothing is missed in between. A stream that ends is opened
// again, with pauses that grow.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "peer/modern_speech.h"
#include "peer/peer_dialogue.h"

namespace relay::peer {

class ModernListen : public std::enable_shared_from_this<ModernListen> {
 public:
  using Uris = std::set<std::string, std::less<>>;
  ModernListen(std::shared_ptr<Dialogue> dialogue, const ModernSpeech& speech, const PeerInfo& info);

  /// Opens the stream, if the server has anything to tell.
  void start();
  /// Returns when the server has acknowledged the new set, or fails.
  io::Task<void> watch(Uris uris);
  void stop();

 private:
  struct Stream {
    explicit Stream(const io::Loop& executor) : settled(executor) {}
    io::CancelSource cancel;
    io::Event settled;  // acknowledged or failed
    bool acknowledged = false;
    std::optional<Error> error;
  };

  std::shared_ptr<Stream> open();
  static io::Task<void> keep_open(std::shared_ptr<ModernListen> self, std::shared_ptr<Stream> stream,
                                  std::string params);
  io::Task<Result<void>> listen_once(std::shared_ptr<Stream> stream, std::string_view params);
  void take_acknowledgement(Stream& stream, const json::object& params);
  [[nodiscard]] std::string filter() const;

  std::weak_ptr<Dialogue> dialogue_;
  ModernSpeech speech_;
  bool tools_, prompts_, resources_, subscribes_;
  Uris uris_;
  std::shared_ptr<Stream> current_;
};

}  // namespace relay::peer
