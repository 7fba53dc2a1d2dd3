#include "peer/legacy_session.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "protocol/json_writer.h"

namespace relay::peer {
namespace {

constexpr std::string_view kCapabilities =
    R"({"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}})";

std::string initialize_params(const protocol::Implementation& self) {
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text("protocolVersion", protocol::name_of(protocol::kLatestLegacy));
  writer.raw("capabilities", kCapabilities);
  append_json(writer.key("clientInfo"), self, protocol::kLatestLegacy);
  writer.finish();
  return out;
}

Result<PeerInfo> parse_info(const json::value& result) {
  const json::object* members = result.if_object();
  if (!members) return fail(unavailable("the server's answer to initialize is no object"));
  const auto version = json::find_string(*members, "protocolVersion");
  if (!version) return fail(unavailable("the server's answer to initialize names no protocolVersion"));
  const auto revision = protocol::find_revision(*version);
  if (!revision || protocol::era_of(*revision) != protocol::Era::legacy)
    return fail(unavailable(
        fmt::format("the server wants to speak revision '{}', which is not known here", *version)));
  PeerInfo info;
  info.revision = *revision;
  if (const json::object* server = json::find_object(*members, "serverInfo")) info.server = *server;
  if (const json::object* capabilities = json::find_object(*members, "capabilities"))
    info.capabilities = *capabilities;
  info.instructions = visible_text(json::find_string(*members, "instructions").value_or(""));
  return info;
}

std::string uri_params(std::string_view uri) {
  return R"({"uri":)" + json::quote(uri) + "}";
}

}  // namespace

io::Task<void> LegacySession::initialize() {
  const auto keep = shared_from_this();
  const std::string params = initialize_params(options_.self);
  SilentScope nobody;
  const OutgoingMessage hello{.method = "initialize", .params = params};
  const Deadlines deadlines{.silence = options_.start_timeout, .total = options_.start_timeout};
  RELAY_CO_TRY(const protocol::Response answer, co_await dialogue_->roundtrip(hello, nobody, deadlines));
  if (!answer.outcome)
    co_return fail(invalid(fmt::format("the server refused initialize: {} ({})",
                                       answer.outcome.error().message, answer.outcome.error().code)));
  RELAY_CO_TRY(info_, parse_info(*answer.outcome));
  dialogue_->wire().agree(info_.revision);
  RELAY_CO_CHECK(
      co_await dialogue_->wire().deliver(protocol::write_notification("notifications/initialized", {})));
  dialogue_->wire().settle();
  co_return Result<void>{};
}

io::Task<void> LegacySession::renew() {
  const auto keep = shared_from_this();
  RELAY_CO_CHECK(co_await initialize());
  if (log_level_) RELAY_CO_CHECK(co_await set_log_level(*log_level_));
  for (const std::string& uri : std::set(watched_))
    RELAY_CO_CHECK(co_await say("resources/subscribe", uri_params(uri)));
  co_return Result<void>{};
}

io::Task<void> LegacySession::watch(std::set<std::string, std::less<>> uris) {
  const auto keep = shared_from_this();
  const auto before = std::exchange(watched_, std::move(uris));
  const auto now = watched_;
  for (const std::string& uri : now)
    if (!before.contains(uri)) RELAY_CO_CHECK(co_await say("resources/subscribe", uri_params(uri)));
  for (const std::string& uri : before)
    if (!now.contains(uri)) RELAY_CO_CHECK(co_await say("resources/unsubscribe", uri_params(uri)));
  co_return Result<void>{};
}

io::Task<void> LegacySession::set_log_level(protocol::LogLevel level) {
  const auto keep = shared_from_this();
  log_level_ = level;
  if (!info_.can("logging")) co_return Result<void>{};
  co_return co_await say("logging/setLevel", fmt::format(R"({{"level":"{}"}})", protocol::name_of(level)));
}

io::Task<void> LegacySession::say(std::string_view method, std::string params) {
  SilentScope nobody;
  const OutgoingMessage message{.method = method, .params = params};
  RELAY_CO_TRY(const protocol::Response answer, co_await dialogue_->roundtrip(message, nobody, Deadlines{}));
  if (!answer.outcome)
    co_return fail(
        unavailable(fmt::format("the server refused {}: {}", method, answer.outcome.error().message)));
  co_return Result<void>{};
}

}  // namespace relay::peer
