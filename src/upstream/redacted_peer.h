// RedactedPeer: a Peer whose server tells no secret. The secrets that Relay gives to servers can come back
// from there only, so this is the one place where they are removed: answers, errors, lists, instructions, and
// what the server reports, logs and asks while a request is open.
//
// The connector puts it around each connection it makes. RedactedObserver is the same for what a server says
// without being asked. With AnswerRedaction::off both pass everything on as it is. Loop thread only.
#pragma once

#include <memory>

#include "peer/peer.h"
#include "secrets/redactor.h"

namespace relay::upstream {

class RedactedPeer final : public peer::Peer {
 public:
  RedactedPeer(std::unique_ptr<peer::Peer> peer, std::shared_ptr<const secrets::Redactor> redactor);

  [[nodiscard]] const peer::PeerInfo& info() const override { return info_; }
  [[nodiscard]] bool is_open() const override { return peer_->is_open(); }
  io::Task<peer::PeerAnswer> request(peer::Outgoing outgoing, peer::RequestScope& exchange) override;
  io::Task<void> watch(std::set<std::string, std::less<>> uris) override {
    return peer_->watch(std::move(uris));
  }
  io::Task<void> set_log_level(protocol::LogLevel level) override { return peer_->set_log_level(level); }
  void roots_changed() override { peer_->roots_changed(); }
  io::Task<void> close() override { return peer_->close(); }

 private:
  std::unique_ptr<peer::Peer> peer_;
  std::shared_ptr<const secrets::Redactor> redactor_;
  peer::PeerInfo info_;
};

class RedactedObserver final : public peer::PeerObserver {
 public:
  /// The observer lives as long as this.
  RedactedObserver(peer::PeerObserver& observer, std::shared_ptr<const secrets::Redactor> redactor)
      : observer_(observer), redactor_(std::move(redactor)) {}

  void server_event(const protocol::ServerEvent& event) override;
  // These two are for the log of the server, which redacts what it is given.
  void oddity(std::string_view text) override { observer_.oddity(text); }
  void closed(const Error& why) override { observer_.closed(why); }

 private:
  peer::PeerObserver& observer_;
  std::shared_ptr<const secrets::Redactor> redactor_;
};

}  // namespace relay::upstream
