#include "upstream/server_connection.h"

#include <algorithm>

#include <fmt/format.h>

#include "peer/request_scope.h"

namespace relay::upstream {
namespace {

constexpr int kDoublingsMax = 16;

std::string with_last_line(std::string text, const launch::ServerLog& log) {
  if (const std::string line = log.last_line(); !line.empty()) text += "; its last line on stderr: " + line;
  return text;
}

}  // namespace

bool is_hopeless(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid:
    case ErrorKind::unauthenticated:
    case ErrorKind::denied:
    case ErrorKind::not_found: return true;
    case ErrorKind::timeout:
    case ErrorKind::conflict:
    case ErrorKind::too_large:
    case ErrorKind::dependency:
    case ErrorKind::no_executor:
    case ErrorKind::busy:
    case ErrorKind::cancelled:
    case ErrorKind::unavailable:
    case ErrorKind::internal: return false;
  }
  return false;
}

// ---- Starting.

io::Task<std::shared_ptr<ConnectionInstance>> ServerConnection::open() {
  const auto self = shared_from_this();
  for (;;) {
    if (std::shared_ptr<ConnectionInstance> line = find_open()) co_return line;
    if (!start_ && phase_ == ServerPhase::failed && !may_try_again()) co_return fail(given_up());
    begin_start();
    const std::shared_ptr<Start> start = start_;
    if (start) RELAY_CO_CHECK(co_await start->settled.wait());
    if (start && start->cancel.requested())
      co_return fail(unavailable(fmt::format("server {} was stopped", spec().name)));
    if (!start_ && !find_open() && phase_ == ServerPhase::failed) co_return fail(given_up());
  }
}

std::shared_ptr<ConnectionInstance> ServerConnection::find_open() const {
  return line_ && line_->is_open() ? line_ : nullptr;
}

void ServerConnection::begin_start() {
  if (start_ || find_open()) return;
  if (phase_ == ServerPhase::failed) failures_ = 0;
  start_ = std::make_shared<Start>(setup_->executor);
  io::spawn(setup_->executor, start_until_settled(start_), "start of an upstream server", start_->cancel);
}

io::Task<void> ServerConnection::start_until_settled(std::shared_ptr<Start> start) {
  const auto self = shared_from_this();
  // Also when stop() cancels it: whoever waits goes on and sees the phase.
  struct Settle {
    ServerConnection& lane;
    Start& start;
    ~Settle() {
      if (lane.start_.get() == &start) lane.start_.reset();
      start.settled.set();
    }
  } settle{*this, *start};
  co_return co_await try_until_settled();
}

io::Task<void> ServerConnection::try_until_settled() {
  for (;;) {
    if (previous_) RELAY_CO_CHECK(co_await previous_->gone_.wait());
    previous_.reset();
    if (failures_ > 0) {
      set_phase(ServerPhase::backing_off, reason_);
      RELAY_CO_CHECK(co_await io::sleep_for(delay()));
    }
    set_phase(ServerPhase::starting, reason_);
    Result<std::shared_ptr<ConnectionInstance>> line = co_await connect();
    if (line) {
      become_ready(std::move(*line));
      co_return Result<void>{};
    }
    if (!note_failure(line.error())) co_return Result<void>{};
  }
}

io::Task<std::shared_ptr<ConnectionInstance>> ServerConnection::connect() {
  auto line = std::make_shared<ConnectionInstance>(shared_from_this());
  const ServerSpec& spec = setup_->spec;
  const peer::EraChoice era = setup_->eras->choice_for(spec);
  setup_->log->begin_process();
  // The connection has its own limit, with a better message; this one is for a connection that forgets it.
  // Probing may start a server twice.
  auto connected = co_await io::with_timeout(
      setup_->connect(spec, era, *line, setup_->log), 2 * spec.start_timeout + std::chrono::seconds(10),
      fmt::format("it was not ready within {} ms", spec.start_timeout.count()));
  if (!connected) {
    if (era != spec.era) setup_->eras->forget(spec);
    co_return fail(std::move(connected.error()));
  }
  line->connection_ = std::move(*connected);
  if (line->is_open()) {
    setup_->eras->remember(spec, line->peer().info().era());
    if (const auto owner = owner_.lock()) [[maybe_unused]]
      const auto furnished = co_await owner->restore_state(*this, line->peer());
  }
  if (line->is_open()) co_return line;
  RELAY_CO_TRY(std::string text,
               co_await describe_exit(line, "the connection closed as soon as it was made"));
  co_return fail(unavailable(std::move(text)));
}

void ServerConnection::become_ready(std::shared_ptr<ConnectionInstance> line) {
  line_ = std::move(line);
  ready_at_ = last_used_ = setup_->clock.mono();
  timeouts_in_row_ = 0;
  setup_->log->note(line_->pid() ? fmt::format("ready, process {}", *line_->pid()) : "ready");
  set_phase(ServerPhase::ready);
  if (stops_when_idle())
    io::spawn(setup_->executor, stop_when_idle(line_), "idle stop of an upstream server", line_->idle_watch_);
}

bool ServerConnection::note_failure(const Error& error) {
  ++failures_;
  reason_ = setup_->log->redactor().redact(error.message);
  setup_->log->note(reason_);
  if (!is_hopeless(error) && failures_ < setup_->pace.tries) {
    set_phase(ServerPhase::backing_off, reason_);
    return true;
  }
  failed_at_ = setup_->clock.mono();
  set_phase(ServerPhase::failed, reason_);
  return false;
}

void ServerConnection::set_phase(ServerPhase phase, std::string reason) {
  const ServerPhase before = phase_;
  reason_ = std::move(reason);
  if (phase == before) return;
  phase_ = phase;
  since_ = setup_->clock.wall();
  if (const auto owner = owner_.lock()) owner->phase_changed(*this, before);
}

bool ServerConnection::may_try_again() const {
  return setup_->clock.mono() - failed_at_ >= setup_->pace.revive;
}

std::chrono::milliseconds ServerConnection::delay() const {
  return setup_->pace.first_delay * (1 << std::clamp(failures_ - 1, 0, kDoublingsMax));
}

Error ServerConnection::given_up() const {
  const auto left = setup_->pace.revive -
                    std::chrono::duration_cast<std::chrono::milliseconds>(setup_->clock.mono() - failed_at_);
  const auto seconds = std::max<long>(1, std::chrono::ceil<std::chrono::seconds>(left).count());
  return unavailable(
      fmt::format("server {} failed: {}. It is tried again in {} s, or when its configuration changes",
                  spec().name, reason_, seconds));
}

// ---- Using.

io::Task<peer::PeerAnswer> ServerConnection::request(peer::Outgoing outgoing, peer::RequestScope& exchange) {
  const auto self = shared_from_this();
  std::shared_ptr<ConnectionInstance> line = find_open();
  if (!line) {
    RELAY_CO_TRY(line, co_await open());
  }
  const Use use(*this);
  Result<peer::PeerAnswer> answer = co_await line->peer().request(std::move(outgoing), exchange);
  note_answer(line, answer);
  if (answer) co_return answer;
  RELAY_CO_TRY(Error error, co_await explain(line, std::move(answer.error())));
  co_return fail(std::move(error));
}

// The peer knows that the connection closed; how the process ended and what it said last is known a moment
// later.
io::Task<Error> ServerConnection::explain(std::shared_ptr<ConnectionInstance> line, Error error) {
  if (line->is_open()) {
    error.message = setup_->log->redactor().redact(fmt::format("server {}: {}", spec().name, error.message));
    co_return error;
  }
  RELAY_CO_CHECK(co_await line->finished_.wait_until(std::chrono::steady_clock::now() +
                                                     2 * limits::kUpstreamExitReport));
  const std::string text =
      line->finished_.is_set() ? line->exit_report_ : setup_->log->redactor().redact(error.message);
  error.message = fmt::format("server {} went away during the call: {}", spec().name, text);
  co_return error;
}

void ServerConnection::note_answer(const std::shared_ptr<ConnectionInstance>& line,
                                   const Result<peer::PeerAnswer>& answer) {
  if (answer) timeouts_in_row_ = 0;
  if (answer || answer.error().kind != ErrorKind::timeout || line != line_) return;
  if (++timeouts_in_row_ < setup_->pace.timeouts || line->is_being_checked_) return;
  line->is_being_checked_ = true;
  io::spawn(setup_->executor, check_alive(line), "pulse of an upstream server", line->alive_check_);
}

// Slow tools are no reason to restart a server; one that does not even answer the cheapest question is dead.
io::Task<void> ServerConnection::check_alive(std::shared_ptr<ConnectionInstance> line) {
  const auto self = shared_from_this();
  peer::Outgoing ping{
      .method = line->peer().info().era() == protocol::Era::modern ? "server/discover" : "ping",
      .params = "{}"};
  ping.timeout = setup_->pace.ping;
  peer::SilentScope nobody;
  const Result<peer::PeerAnswer> answer = co_await line->peer().request(std::move(ping), nobody);
  line->is_being_checked_ = false;
  timeouts_in_row_ = 0;
  if (!answer && answer.error().kind == ErrorKind::timeout)
    line->closed(unavailable(fmt::format(
        "it stopped answering: {} calls in a row timed out, and so did a ping", setup_->pace.timeouts)));
  co_return Result<void>{};
}

bool ServerConnection::stops_when_idle() const {
  return spec().idle_stop.count() > 0 &&
         (spec().transport == ServerTransport::stdio || spec().sharing == Sharing::session);
}

io::Task<void> ServerConnection::stop_when_idle(std::shared_ptr<ConnectionInstance> line) {
  const auto self = shared_from_this();
  const ServerSpec& spec = setup_->spec;
  for (auto left = std::chrono::duration_cast<std::chrono::steady_clock::duration>(spec.idle_stop);
       left.count() > 0;) {
    RELAY_CO_CHECK(co_await io::sleep_for(left));
    const auto owner = owner_.lock();
    const bool is_used = open_calls_ > 0 || (owner && owner->is_wanted(*this));
    left = is_used ? spec.idle_stop : last_used_ + spec.idle_stop - setup_->clock.mono();
  }
  if (line != line_) co_return Result<void>{};
  setup_->log->note("stopped: nobody used it");
  io::spawn(setup_->executor, stop(), "idle stop of an upstream server");
  co_return Result<void>{};
}

// ---- Ending.

void ServerConnection::instance_closed(const std::shared_ptr<ConnectionInstance>& line, const Error& why) {
  previous_ = line;
  io::spawn(setup_->executor, finish_closed(line, why), "end of an upstream server");
  if (line != line_) return;
  line_.reset();
  if (setup_->clock.mono() - ready_at_ >= setup_->pace.stable) failures_ = 0;
  if (note_failure(unavailable(why.message))) begin_start();
}

io::Task<void> ServerConnection::finish_closed(std::shared_ptr<ConnectionInstance> line, Error why) {
  const auto self = shared_from_this();
  line->stop_timers();
  const std::string first_reason = setup_->log->redactor().redact(why.message);
  auto text = co_await describe_exit(line, first_reason);
  line->exit_report_ = text ? std::move(*text) : first_reason;
  if (reason_ == first_reason) reason_ = line->exit_report_;
  setup_->log->note(line->exit_report_);
  line->finished_.set();
  [[maybe_unused]] const auto closed = co_await line->connection_->close();
  line->gone_.set();
  co_return Result<void>{};
}

// A process that was found silent has no last words; one that closed its end is about to exit.
io::Task<std::string> ServerConnection::describe_exit(std::shared_ptr<ConnectionInstance> line,
                                                      std::string why) {
  if (!line->peer().is_open()) {
    RELAY_CO_TRY(const std::string words, co_await line->connection_->exit_report());
    if (!words.empty()) why = "it " + words;
  }
  co_return setup_->log->redactor().redact(with_last_line(std::move(why), *setup_->log));
}

io::Task<void> ServerConnection::stop() {
  const auto self = shared_from_this();
  if (start_) {
    const std::shared_ptr<Start> start = start_;
    start->cancel.cancel();
    RELAY_CO_CHECK(co_await start->settled.wait());
  }
  failures_ = 0;
  const std::shared_ptr<ConnectionInstance> line = std::exchange(line_, nullptr);
  set_phase(ServerPhase::idle);
  if (!line) {
    if (const std::shared_ptr<ConnectionInstance> previous = previous_)
      RELAY_CO_CHECK(co_await previous->gone_.wait());
    co_return Result<void>{};
  }
  previous_ = line;
  line->exit_report_ = "it was stopped";
  line->is_closed_ = true;
  line->stop_timers();
  line->finished_.set();
  auto closed = co_await line->connection_->close();
  line->gone_.set();
  co_return closed;
}

// ---- What the connection says.

void ConnectionInstance::stop_timers() {
  idle_watch_.cancel();
  alive_check_.cancel();
}

void ConnectionInstance::server_event(const protocol::ServerEvent& event) {
  const auto lane = lane_.lock();
  if (const auto owner = lane ? lane->owner_.lock() : nullptr) owner->server_event(event);
}

void ConnectionInstance::oddity(std::string_view text) {
  log_->note(text);
}

void ConnectionInstance::closed(const Error& why) {
  // While it is being made there is nothing to finish_closed; it may even be tried in another way. Whoever
  // connects looks at the peer.
  if (!connection_ || std::exchange(is_closed_, true)) return;
  if (const auto lane = lane_.lock()) lane->instance_closed(shared_from_this(), why);
}

}  // namespace relay::upstream
