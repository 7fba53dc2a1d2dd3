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

/// What happens in one upstream, for the fleet.
class UpstreamObserver {
 public:
  virtual ~UpstreamObserver() = default;
  virtual void offer_changed(const ServerSpec& spec, peer::ListKind list) = 0;
  virtual void resource_updated(const ServerSpec& spec, std::string_view uri) = 0;
  virtual void server_log(const ServerSpec& spec, protocol::LogLevel level, std::string_view logger,
                          const json::value& data) = 0;
};

class SupervisedUpstream final : public Upstream,
                                 public ConnectionOwner,
                                 public std::enable_shared_from_this<SupervisedUpstream> {
 public:
  /// The observer outlives it, or is let go of with retire(). Without a file its offer is not kept over
  /// restarts.
  SupervisedUpstream(ConnectionSetup setup, UpstreamObserver* observer,
                     std::shared_ptr<OfferFile> offers = nullptr);

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
  /// The observer goes.
  void forget_observer() { observer_ = nullptr; }
  /// What it offered is not for a later relay either.
  void forget_offer() { kept_->forget(); }
  /// For good: the server left the configuration. Requests fail from now on, with this reason; the observer
  /// is forgotten.
  io::Task<void> retire(std::string reason);

 private:
  io::Task<peer::PeerAnswer> send(peer::Outgoing outgoing, peer::RequestScope& exchange) override;
  io::Task<void> start_watch(std::string uri) override;
  // ConnectionOwner
  void phase_changed(ServerConnection& lane, ServerPhase before) override;
  void list_changed(peer::ListKind list) override;
  void resource_updated(std::string_view uri) override;
  void server_log(protocol::LogLevel level, std::string_view logger, const json::value& data) override;
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
  void tell_offer_changed(peer::ListKind list);

  std::shared_ptr<const ConnectionSetup> setup_;
  UpstreamObserver* observer_;
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
