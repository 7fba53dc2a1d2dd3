// SupervisedUpstream: an Upstream made of connections (ServerConnection), CallSlots and the kept offer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "upstream/call_slots.h"
#include "upstream/kept_offer.h"
#include "upstream/server_connection.h"
#include "upstream/upstream.h"

namespace relay::upstream {

/// Where an upstream tells what its server says, and that its lists changed: to the fleet. May be empty.
using TellEvent = std::function<void(const ServerSpec& spec, const protocol::ServerEvent& event)>;

class SupervisedUpstream final : public Upstream,
                                 public ConnectionOwner,
                                 public std::enable_shared_from_this<SupervisedUpstream> {
 public:
  /// What `tell` uses outlives it, or is let go of with retire(). Without a file its offer is not kept over
  /// restarts.
  SupervisedUpstream(ConnectionSetup setup, TellEvent tell, std::shared_ptr<OfferFile> offers = nullptr);

  [[nodiscard]] const ServerSpec& spec() const override { return setup_->spec; }
  [[nodiscard]] Status status() const override;
  io::Task<std::shared_ptr<const Offer>> offer() override;
  io::Task<std::shared_ptr<const Offer>> offer_at_hand() override;
  [[nodiscard]] std::shared_ptr<const Offer> known_offer() const override { return kept_->known(); }
  void unwatch(std::string_view uri) override;
  void set_log_level(protocol::LogLevel level) override;
  void roots_changed() override;
  io::Task<void> stop() override;

  /// Starts it and learns what it offers, in the background.
  void start_ahead();
  /// Says nothing from now on.
  void fall_silent() { tell_ = nullptr; }
  /// What it offered is not for a later relay either.
  void forget_offer() { kept_->forget(); }
  /// For good: the server left the configuration. Requests fail from now on, with this reason, and it
  /// falls silent.
  io::Task<void> retire(std::string reason);

 private:
  io::Task<peer::PeerAnswer> send(peer::Outgoing outgoing, peer::RequestScope& exchange) override;
  io::Task<void> start_watch(std::string uri) override;
  // ConnectionOwner
  void phase_changed(ServerConnection& lane, ServerPhase before) override;
  void server_event(const protocol::ServerEvent& event) override;
  io::Task<void> restore_state(ServerConnection& lane, peer::Peer& peer) override;
  [[nodiscard]] bool is_wanted(const ServerConnection& lane) const override;

  /// The lane whose state is shown as the server's; null before the first use.
  [[nodiscard]] const ServerConnection* find_telling_lane() const;
  [[nodiscard]] bool is_given_up() const;
  [[nodiscard]] Result<void> check_usable() const;
  [[nodiscard]] std::string lane_name(std::string_view session) const;
  Result<std::shared_ptr<ServerConnection>> find_or_make_lane(std::string name);
  /// A lane that is open already, or the one for nobody in particular.
  Result<std::shared_ptr<ServerConnection>> any_lane();
  void drop_idlest_lane();
  io::Task<void> refresh_offer();
  io::Task<void> send_watches(std::shared_ptr<ConnectionInstance> line);
  io::Task<KeptOffer::WalkLists> open_for_lists();
  io::Task<Walked> walk_lists(std::shared_ptr<ServerConnection> lane,
                              std::shared_ptr<ConnectionInstance> line, std::vector<peer::ListKind> kinds,
                              Walked before);
  [[nodiscard]] std::set<std::string, std::less<>> watched_uris() const;
  void tell_list_changed(protocol::ListKind list);

  std::shared_ptr<const ConnectionSetup> setup_;
  TellEvent tell_;
  std::shared_ptr<CallSlots> admission_;
  std::shared_ptr<KeptOffer> kept_;
  /// By session; a shared server has only the one without a name, which also carries watches and lists.
  std::map<std::string, std::shared_ptr<ServerConnection>, std::less<>> lanes_;
  std::map<std::string, std::size_t, std::less<>> watches_;
  std::optional<protocol::LogLevel> log_level_;
  std::string retired_;  // the reason; empty while it is in use
  WallTime made_at_;
  std::uint64_t calls_ = 0;
  std::uint64_t failures_ = 0;
};

}  // namespace relay::upstream
