#include <algorithm>

#include <fmt/format.h>

#include "peer/modern_peer.h"
#include "peer/modern_speech.h"
#include "protocol/modern_envelope.h"

namespace relay::peer {
namespace {

bool is_modern_error(int code) {
  return code == protocol::code::kHeaderMismatch || code == protocol::code::kMissingCapability ||
         code == protocol::code::kUnsupportedVersion;
}

bool names_ours(const json::object& members, std::string_view key) {
  const json::array* versions = json::find_array(members, key);
  return versions && std::ranges::any_of(*versions, [](const json::value& version) {
           return version.is_string() &&
                  json::view(version.get_string()) == protocol::name_of(protocol::kLatestModern);
         });
}

// A server that discovers but lists only old versions is spoken to in the old way.
Probe judge_result(const json::value& result) {
  const json::object* members = result.if_object();
  if (!members || !json::find_array(*members, "supportedVersions"))
    return {.why = "its answer to server/discover lists no versions"};
  if (!names_ours(*members, "supportedVersions"))
    return {.why = "it speaks no modern revision that is known here"};
  Probe probe{.verdict = ProbeVerdict::modern};
  probe.info.revision = protocol::kLatestModern;
  if (const json::object* capabilities = json::find_object(*members, "capabilities"))
    probe.info.capabilities = *capabilities;
  probe.info.instructions = json::find_string(*members, "instructions").value_or("");
  const json::object* meta = json::find_object(*members, "_meta");
  if (const json::object* server = meta ? json::find_object(*meta, protocol::meta::kServerInfo) : nullptr)
    probe.info.server = *server;
  return probe;
}

Result<Probe> judge_error(const protocol::RpcError& error) {
  const std::string said = fmt::format("it answered server/discover with {}: {}", error.code, error.message);
  if (!is_modern_error(error.code)) return Probe{.why = said};
  if (error.code != protocol::code::kUnsupportedVersion)
    return Probe{.verdict = ProbeVerdict::modern, .info = assumed_modern_info()};
  const json::object* data = error.data ? error.data->if_object() : nullptr;
  const json::array* supported = data ? json::find_array(*data, "supported") : nullptr;
  for (const json::value& version : supported ? *supported : json::array())
    if (const auto known =
            version.is_string() ? protocol::find_revision(json::view(version.get_string())) : std::nullopt;
        known && protocol::era_of(*known) == protocol::Era::legacy)
      return Probe{.why = said};
  return fail(unavailable("the server speaks only revisions that are not known here: " + said));
}

}  // namespace

PeerInfo assumed_modern_info() {
  PeerInfo info;
  info.revision = protocol::kLatestModern;
  info.capabilities =
      json::object{{"tools", json::object()}, {"resources", json::object()}, {"prompts", json::object()}};
  return info;
}

io::Task<Probe> probe_era(std::shared_ptr<Dialogue> dialogue, PeerOptions options) {
  SilentScope nobody;
  const ModernSpeech speech(options.self);
  const auto limit = std::min(options.probe_timeout, options.start_timeout);
  const Deadlines deadlines{.silence = limit, .total = limit};
  auto answer = co_await dialogue->roundtrip(speech.put("server/discover", {}, nobody), nobody, deadlines);
  if (answer && is_passing_refusal(*answer))
    answer = co_await dialogue->roundtrip(speech.put("server/discover", {}, nobody), nobody, deadlines);
  if (!answer && answer.error().kind == ErrorKind::timeout)
    co_return Probe{.why = "it did not answer server/discover"};
  if (!answer) co_return fail(std::move(answer.error()));
  if (answer->outcome) co_return judge_result(*answer->outcome);
  co_return judge_error(answer->outcome.error());
}

}  // namespace relay::peer
