#include "upstream/supervised_upstream.h"

#include <algorithm>

#include <fmt/format.h>

#include "peer/request_scope.h"

namespace relay::upstream {
namespace {

// Of several lanes the state that matters most to a person.
int weight_of(ServerPhase phase) {
  switch (phase) {
    case ServerPhase::ready: return 5;
    case ServerPhase::starting: return 4;
    case ServerPhase::backing_off: return 3;
    case ServerPhase::failed: return 2;
    case ServerPhase::idle: return 1;
    case ServerPhase::disabled: return 0;
  }
  return 0;
}

}  // namespace

std::string_view name_of(ServerPhase phase) {
  switch (phase) {
    case ServerPhase::disabled: return "disabled";
    case ServerPhase::idle: return "idle";
    case ServerPhase::starting: return "starting";
    case ServerPhase::ready: return "ready";
    case ServerPhase::backing_off: return "backing_off";
    case ServerPhase::failed: return "failed";
  }
  return "unknown";
}

SupervisedUpstream::SupervisedUpstream(ConnectionSetup setup, TellEvent tell,
                                       std::shared_ptr<OfferFile> offers)
    : setup_(std::make_shared<const ConnectionSetup>(std::move(setup))),
      tell_(std::move(tell)),
      made_at_(setup_->clock.wall()) {
  const ServerSpec& server = setup_->spec;
  CallSlots::Bounds bounds{.server = server.name,
                           .open_max = std::max<std::size_t>(1, server.max_concurrent),
                           .waiting_max = limits::kUpstreamWaiting,
                           .per_minute = server.calls_per_minute};
  admission_ = std::make_shared<CallSlots>(setup_->executor, setup_->clock, std::move(bounds));
  kept_ = std::make_shared<KeptOffer>(setup_->executor, setup_->clock, std::move(offers));
}

Status SupervisedUpstream::status() const {
  Status status{.phase = spec().enabled ? ServerPhase::idle : ServerPhase::disabled, .since = made_at_};
  status.stderr_tail = setup_->log->tail();
  status.open_calls = admission_->open();
  status.calls = calls_;
  status.failures = failures_;
  const ServerConnection* shown = find_telling_lane();
  if (!shown) return status;
  status.phase = shown->phase();
  status.since =
      shown->phase() == ServerPhase::idle && shown->since() == WallTime{} ? made_at_ : shown->since();
  status.reason = shown->reason();
  status.restarts = shown->failures();
  if (const auto line = shown->find_open()) {
    status.pid = line->pid();
    status.cage = line->cage();
    status.revision = line->peer().info().revision;
  }
  return status;
}

const ServerConnection* SupervisedUpstream::find_telling_lane() const {
  const ServerConnection* telling = nullptr;
  for (const auto& [name, lane] : lanes_)
    if (!telling || weight_of(lane->phase()) > weight_of(telling->phase())) telling = lane.get();
  return telling;
}

// ---- Calls.

Result<void> SupervisedUpstream::check_usable() const {
  if (!retired_.empty()) return fail(unavailable(fmt::format("server {} {}", spec().name, retired_)));
  if (!spec().enabled)
    return fail(unavailable(
        fmt::format("server {} is disabled; `relay mcp enable {}` changes that", spec().name, spec().name)));
  return {};
}

io::Task<peer::PeerAnswer> SupervisedUpstream::send(peer::Outgoing outgoing, peer::RequestScope& exchange) {
  const auto self = shared_from_this();
  RELAY_CO_CHECK(check_usable());
  outgoing.timeout = std::min(outgoing.timeout, spec().call_timeout);
  RELAY_CO_TRY(const CallSlots::Place place, co_await admission_->enter(outgoing.timeout));
  RELAY_CO_CHECK(check_usable());
  RELAY_CO_TRY(const std::shared_ptr<ServerConnection> lane,
               find_or_make_lane(lane_name(exchange.session())));
  ++calls_;
  Result<peer::PeerAnswer> answer = co_await lane->request(std::move(outgoing), exchange);
  if (!answer) ++failures_;
  co_return answer;
}

std::string SupervisedUpstream::lane_name(std::string_view session) const {
  return spec().sharing == Sharing::session ? std::string(session) : std::string();
}

Result<std::shared_ptr<ServerConnection>> SupervisedUpstream::find_or_make_lane(std::string name) {
  if (const auto found = lanes_.find(name); found != lanes_.end()) return found->second;
  if (lanes_.size() >= limits::kUpstreamSessions) drop_idlest_lane();
  if (lanes_.size() >= limits::kUpstreamSessions)
    return fail(
        busy(fmt::format("server {} has a connection for each of {} sessions, all in use; try again later",
                         spec().name, lanes_.size())));
  auto lane = std::make_shared<ServerConnection>(setup_, weak_from_this());
  lanes_.emplace(std::move(name), lane);
  return lane;
}

Result<std::shared_ptr<ServerConnection>> SupervisedUpstream::any_lane() {
  for (const auto& [name, lane] : lanes_)
    if (lane->find_open()) return lane;
  return find_or_make_lane({});
}

void SupervisedUpstream::drop_idlest_lane() {
  auto idlest = lanes_.end();
  for (auto it = lanes_.begin(); it != lanes_.end(); ++it) {
    const bool can_go = it->second->open_calls() == 0 && it->second->phase() != ServerPhase::starting &&
                        !is_wanted(*it->second);
    if (can_go && (idlest == lanes_.end() || it->second->last_used() < idlest->second->last_used()))
      idlest = it;
  }
  if (idlest == lanes_.end()) return;
  // Out of the map first: a lane that stops says so at once, and would be erased twice.
  std::shared_ptr<ServerConnection> lane = std::move(idlest->second);
  lanes_.erase(idlest);
  const auto stop = [](std::shared_ptr<ServerConnection> kept) -> io::Task<void> {
    co_return co_await kept->stop();
  };
  io::spawn(setup_->executor, stop(std::move(lane)), "end of a session's upstream server");
}

// ---- Lists.

io::Task<std::shared_ptr<const Offer>> SupervisedUpstream::offer() {
  const auto self = shared_from_this();
  RELAY_CO_CHECK(check_usable());
  // A server that was given up has nothing to offer, whatever it said before; known_offer() still has that.
  if (is_given_up()) kept_->reconnected();
  auto open = [self] { return self->open_for_lists(); };
  auto differs = [self](peer::ListKind list) { self->tell_list_changed(list); };
  co_return co_await kept_->get(std::move(open), std::move(differs));
}

bool SupervisedUpstream::is_given_up() const {
  const ServerConnection* lane = find_telling_lane();
  return lane && lane->phase() == ServerPhase::failed;
}

io::Task<std::shared_ptr<const Offer>> SupervisedUpstream::offer_at_hand() {
  const auto self = shared_from_this();
  RELAY_CO_CHECK(check_usable());
  if (kept_->is_remembered() && !is_given_up()) co_return kept_->known();
  co_return co_await offer();
}

io::Task<KeptOffer::WalkLists> SupervisedUpstream::open_for_lists() {
  const auto self = shared_from_this();
  RELAY_CO_TRY(const std::shared_ptr<ServerConnection> lane, any_lane());
  RELAY_CO_TRY(const std::shared_ptr<ConnectionInstance> line, co_await lane->open());
  co_return [self, lane, line](std::vector<peer::ListKind> kinds, Walked before) {
    return self->walk_lists(lane, line, std::move(kinds), std::move(before));
  };
}

io::Task<Walked> SupervisedUpstream::walk_lists(std::shared_ptr<ServerConnection> lane,
                                                std::shared_ptr<ConnectionInstance> line,
                                                std::vector<peer::ListKind> kinds, Walked before) {
  const auto self = shared_from_this();
  const ServerConnection::Use use(*lane);
  Result<Walked> walked = co_await walk_offer(line->peer(), spec(), std::move(kinds), std::move(before));
  if (walked) co_return walked;
  RELAY_CO_TRY(Error error, co_await lane->explain(line, std::move(walked.error())));
  co_return fail(std::move(error));
}

io::Task<void> SupervisedUpstream::refresh_offer() {
  const auto self = shared_from_this();
  // Whoever asks for the offer hears of a failure; here nobody did.
  [[maybe_unused]] const auto offer = co_await this->offer();
  co_return Result<void>{};
}

void SupervisedUpstream::start_ahead() {
  if (spec().enabled && retired_.empty())
    io::spawn(setup_->executor, refresh_offer(), "start of an upstream server");
}

void SupervisedUpstream::tell_list_changed(protocol::ListKind list) {
  if (tell_) tell_(spec(), protocol::ListChanged{list});
}

// ---- Watches and levels.

io::Task<void> SupervisedUpstream::start_watch(std::string uri) {
  const auto self = shared_from_this();
  RELAY_CO_CHECK(check_usable());
  // The connection is opened before the watch is counted: a new connection gets the watches counted so far,
  // and this one is sent below.
  RELAY_CO_TRY(const std::shared_ptr<ServerConnection> lane, find_or_make_lane({}));
  RELAY_CO_TRY(const std::shared_ptr<ConnectionInstance> line, co_await lane->open());
  if (watches_[uri]++ > 0) co_return Result<void>{};
  auto sent = co_await line->peer().watch(watched_uris());
  if (sent) co_return sent;
  if (const auto found = watches_.find(uri); found != watches_.end() && --found->second == 0)
    watches_.erase(found);
  RELAY_CO_TRY(Error error, co_await lane->explain(line, std::move(sent.error())));
  co_return fail(std::move(error));
}

void SupervisedUpstream::unwatch(std::string_view uri) {
  const auto found = watches_.find(uri);
  if (found == watches_.end() || --found->second > 0) return;
  watches_.erase(found);
  const auto lane = lanes_.find("");
  if (const auto line = lane == lanes_.end() ? nullptr : lane->second->find_open())
    io::spawn(setup_->executor, send_watches(line), "watches of an upstream server");
}

// Runs on its own. If the connection fails now, the next one re-sends watches and log level.
io::Task<void> SupervisedUpstream::send_watches(std::shared_ptr<ConnectionInstance> line) {
  const auto self = shared_from_this();
  [[maybe_unused]] const auto sent = co_await line->peer().watch(watched_uris());
  co_return Result<void>{};
}

std::set<std::string, std::less<>> SupervisedUpstream::watched_uris() const {
  std::set<std::string, std::less<>> uris;
  for (const auto& [uri, count] : watches_) uris.insert(uri);
  return uris;
}

void SupervisedUpstream::set_log_level(protocol::LogLevel level) {
  if (log_level_ == level) return;
  log_level_ = level;
  for (const auto& [name, lane] : lanes_) {
    auto tell = [](std::shared_ptr<ConnectionInstance> line, protocol::LogLevel wanted) -> io::Task<void> {
      [[maybe_unused]] const auto set = co_await line->peer().set_log_level(wanted);
      co_return Result<void>{};
    };
    const auto line = lane->find_open();
    if (line && line->peer().info().can("logging"))
      io::spawn(setup_->executor, tell(line, level), "log level of an upstream server");
  }
}

void SupervisedUpstream::roots_changed() {
  for (const auto& [name, lane] : lanes_)
    if (const auto line = lane->find_open()) line->peer().roots_changed();
}

// A connection that lost its watches is worth more than none; the server's refusal is noted in its log by the
// peer.
io::Task<void> SupervisedUpstream::restore_state(ServerConnection& lane, peer::Peer& peer) {
  const auto self = shared_from_this();
  if (log_level_ && peer.info().can("logging")) [[maybe_unused]]
    const auto set = co_await peer.set_log_level(*log_level_);
  const auto main_lane = lanes_.find("");
  if (main_lane == lanes_.end() || main_lane->second.get() != &lane || watches_.empty())
    co_return Result<void>{};
  co_return co_await peer.watch(watched_uris());
}

// ---- What lanes tell.

void SupervisedUpstream::phase_changed(ServerConnection& lane, ServerPhase before) {
  const auto is_now = [&](ServerPhase phase) {
    return std::ranges::any_of(lanes_, [&](const auto& entry) { return entry.second->phase() == phase; });
  };
  if (is_now(ServerPhase::ready) && before == ServerPhase::starting) {
    kept_->reconnected();
    // The lists of a new process may differ from those that were handed out.
    if (kept_->known()) start_ahead();
  }
  if (is_now(ServerPhase::failed) || before == ServerPhase::failed)
    for (const protocol::ListKind list : protocol::kLists) tell_list_changed(list);
  // A session's connection that was stopped will hardly be used again.
  if (lane.phase() == ServerPhase::idle)
    std::erase_if(lanes_,
                  [&](const auto& entry) { return !entry.first.empty() && entry.second.get() == &lane; });
}

void SupervisedUpstream::server_event(const protocol::ServerEvent& event) {
  if (const auto* change = std::get_if<protocol::ListChanged>(&event)) kept_->list_changed(change->list);
  if (tell_) tell_(spec(), event);
}

bool SupervisedUpstream::is_wanted(const ServerConnection& lane) const {
  const auto main_lane = lanes_.find("");
  return !watches_.empty() && main_lane != lanes_.end() && main_lane->second.get() == &lane;
}

// ---- Ending.

io::Task<void> SupervisedUpstream::stop() {
  const auto self = shared_from_this();
  // One after the other would add up their graces; each stops on its own and is waited for.
  std::vector<std::shared_ptr<io::Event>> ends;
  const auto lanes = lanes_;  // a lane that stops may leave the map
  for (const auto& [name, lane] : lanes) {
    ends.push_back(std::make_shared<io::Event>(setup_->executor));
    auto end = [](std::shared_ptr<ServerConnection> stopping,
                  std::shared_ptr<io::Event> ended) -> io::Task<void> {
      auto stopped = co_await stopping->stop();
      ended->set();
      co_return stopped;
    };
    io::spawn(setup_->executor, end(lane, ends.back()), "stop of an upstream server");
  }
  for (const auto& end : ends) RELAY_CO_CHECK(co_await end->wait());
  co_return Result<void>{};
}

io::Task<void> SupervisedUpstream::retire(std::string reason) {
  const auto self = shared_from_this();
  retired_ = std::move(reason);
  tell_ = nullptr;
  co_return co_await stop();
}

}  // namespace relay::upstream
