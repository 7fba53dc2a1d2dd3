// LegacySession: what initialize has brought, and what a server that forgot us has to be told again.
//
// Shared by the peer and by the wire's way to renew it: an HTTP server that answers 404 has lost the session,
// and gets a new initialize, the log level and the subscriptions before the request is tried again.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "peer/peer_dialogue.h"

namespace relay::peer {

class LegacySession : public std::enable_shared_from_this<LegacySession> {
 public:
  LegacySession(std::shared_ptr<Dialogue> dialogue, PeerOptions options)
      : dialogue_(std::move(dialogue)), options_(std::move(options)) {}

  io::Task<void> initialize();
  /// After a loss: initialize, then everything that was set before.
  io::Task<void> renew();
  io::Task<void> watch(std::set<std::string, std::less<>> uris);
  io::Task<void> set_log_level(protocol::LogLevel level);

  [[nodiscard]] Dialogue& dialogue() { return *dialogue_; }
  [[nodiscard]] const PeerInfo& info() const { return info_; }

 private:
  io::Task<void> say(std::string_view method, std::string params);

  std::shared_ptr<Dialogue> dialogue_;
  PeerOptions options_;
  PeerInfo info_;
  std::set<std::string, std::less<>> watched_;
  std::optional<protocol::LogLevel> log_level_;
};

}  // namespace relay::peer
