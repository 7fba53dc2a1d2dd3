// The envelope of a modern request: what `initialize` once said, said again in the `_meta` of each request.
// Pure. A request without an envelope, or with a malformed one, is refused with the JSON-RPC error that the
// revision names for it.
#pragma once

#include <expected>
#include <optional>
#include <string_view>

#include "protocol/capabilities.h"
#include "protocol/jsonrpc.h"
#include "protocol/log_level.h"
#include "protocol/revision.h"

namespace relay::protocol {

namespace meta {
inline constexpr std::string_view kVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kSubscription = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view kRelatedTask = "io.modelcontextprotocol/related-task";
}  // namespace meta

struct ModernEnvelope {
  std::string version;  // as claimed; find_revision() says whether we speak it
  ClientCapabilities client;
  Implementation info;
  std::optional<LogLevel> log_level;  // absent: no log messages
};

/// True when the parameters claim a version: the message is modern, whatever else is wrong with it.
bool claims_modern_era(const json::object& params);
/// Fails with -32602 when a required key is missing or of the wrong type.
std::expected<ModernEnvelope, RpcError> parse_envelope(const json::object& params);
/// -32022 with the versions that we speak.
RpcError unsupported_version(std::string_view requested);

}  // namespace relay::protocol
