#include "protocol/modern_envelope.h"

#include <fmt/format.h>

namespace relay::protocol {
namespace {

std::unexpected<RpcError> refuse(std::string_view key, std::string_view problem) {
  return std::unexpected(
      RpcError{code::kInvalidParams, fmt::format("params._meta[\"{}\"] {}", key, problem), {}});
}

}  // namespace

bool claims_modern_era(const json::object& params) {
  const json::object* found = json::find_object(params, "_meta");
  return found && json::find(*found, meta::kVersion);
}

std::expected<ModernEnvelope, RpcError> parse_envelope(const json::object& params) {
  const json::object* given = json::find_object(params, "_meta");
  const json::object& members = given ? *given : json::empty_object();
  ModernEnvelope envelope;
  const auto version = json::find_string(members, meta::kVersion);
  if (!version) return refuse(meta::kVersion, "must be a string");
  envelope.version = *version;
  const json::object* client = json::find_object(members, meta::kCapabilities);
  if (!client) return refuse(meta::kCapabilities, "must be an object");
  envelope.client = parse_client_capabilities(*client);
  if (const json::value* info = json::find(members, meta::kClientInfo)) {
    if (!info->is_object()) return refuse(meta::kClientInfo, "must be an object");
    envelope.info = parse_implementation(info->get_object());
  }
  if (const json::value* level = json::find(members, meta::kLogLevel)) {
    envelope.log_level = level->is_string() ? find_log_level(json::view(level->get_string())) : std::nullopt;
    if (!envelope.log_level) return refuse(meta::kLogLevel, "must be a log level");
  }
  return envelope;
}

RpcError unsupported_version(std::string_view requested) {
  json::array supported;
  for (const Revision revision : kAllRevisions)
    if (era_of(revision) == Era::modern) supported.emplace_back(name_of(revision));
  return {code::kUnsupportedVersion, fmt::format("Unsupported protocol version: {}", requested),
          json::object{{"supported", supported}, {"requested", requested}}};
}

}  // namespace relay::protocol
