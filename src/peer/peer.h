// Peer: an open connection to an MCP server, in whichever era it speaks, over whichever transport.
//
// The client half of MCP. Above it nobody knows the era: a legacy server that sends a request in mid-call and
// a modern one that answers `input_required` both become RequestScope::ask; tasks of both generations are
// polled to their end here; progress tokens, ids, sessions, headers and resumption are this class's own
// business. Results come as the bytes the server sent.
//
// Cancelling the coroutine of request() tells the server: a notification on stdio and legacy HTTP, a closed
// stream on modern HTTP, tasks/cancel for a task. Many requests may be open at once. Loop thread only.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "io/child.h"
#include "io/task.h"
#include "net/http_client.h"
#include "peer/era_choice.h"
#include "peer/request_scope.h"
#include "protocol/capabilities.h"
#include "protocol/json_text.h"
#include "protocol/jsonrpc.h"
#include "protocol/log_level.h"
#include "protocol/revision.h"
#include "protocol/server_event.h"

namespace relay::peer {

using protocol::ListKind;

/// What a connection tells without being asked.
class PeerObserver {
 public:
  virtual ~PeerObserver() = default;
  /// A log line comes here when it belongs to no request we could name.
  virtual void server_event(const protocol::ServerEvent& event) = 0;
  /// Something for people who look after the server: a line on stdout that is no message, a late answer.
  virtual void oddity(std::string_view text) = 0;
  /// The connection is gone; requests that were open have failed. Said once.
  virtual void closed(const Error& why) = 0;
};

struct PeerInfo {
  protocol::Revision revision = protocol::kLatestLegacy;
  json::object server;        // Implementation, as sent
  json::object capabilities;  // as sent
  std::string instructions;
  [[nodiscard]] protocol::Era era() const { return protocol::era_of(revision); }
  [[nodiscard]] bool can(std::string_view capability) const { return capabilities.contains(capability); }
};

/// A request to pass on.
struct Outgoing {
  std::string method;  // "tools/call"
  std::string params;  // the JSON text of an object without _meta: {"name":...,"arguments":...}
  json::object meta;   // what of _meta is passed on: traceparent, tracestate, baggage
  std::chrono::milliseconds timeout =
      limits::kUpstreamCall;  // without progress; with progress up to limits::kUpstreamCallMax
  /// For modern HTTP: the input schema of the tool, whose x-mcp-header parameters are repeated as headers.
  std::optional<protocol::JsonText> input_schema;
  /// tools/call on a tool that demands a task (2025-11-25 execution.taskSupport "required").
  bool as_task = false;
};

/// The `result` member byte for byte (of the complete answer: never input_required, never a task), or the
/// server's own error. Failures of the connection, time-outs and refusals to answer its questions are Errors
/// of the Task.
using PeerAnswer = std::expected<protocol::JsonText, protocol::RpcError>;

class Peer {
 public:
  virtual ~Peer() = default;

  [[nodiscard]] virtual const PeerInfo& info() const = 0;
  [[nodiscard]] virtual bool is_open() const = 0;
  /// `exchange` must live until this completes or is destroyed.
  virtual io::Task<PeerAnswer> request(Outgoing outgoing, RequestScope& exchange) = 0;
  /// The whole set of resources to watch, instead of the one before. Legacy: (un)subscribe; modern: a new
  /// listen stream.
  virtual io::Task<void> watch(std::set<std::string, std::less<>> uris) = 0;
  /// Legacy servers only; without effect elsewhere.
  virtual io::Task<void> set_log_level(protocol::LogLevel level) = 0;
  virtual void roots_changed() = 0;
  /// Ends it properly (DELETE of the session, end of stdin). Open requests fail.
  virtual io::Task<void> close() = 0;
};

struct PeerOptions {
  protocol::Implementation self;
  EraChoice era = EraChoice::probe;
  std::chrono::milliseconds start_timeout = limits::kUpstreamStart;
  /// How long an unanswered server/discover may take before the server counts as legacy (stdio).
  std::chrono::milliseconds probe_timeout = limits::kUpstreamProbe;
};

/// Over the pipes of a child, which must outlive the peer; stdin and stdout belong to the peer from here on,
/// stderr does not. A probe that the server does not survive fails with a message that says so: start it
/// again with EraChoice::legacy.
io::Task<std::unique_ptr<Peer>> connect_stdio(io::Loop executor, io::Child& child, PeerOptions options,
                                              PeerObserver& observer);

struct HttpTarget {
  std::string endpoint;
  std::map<std::string, std::string> headers;  // resolved; sent with every request to the endpoint's origin
  bool old_sse = false;                        // transport "sse": HTTP+SSE of 2024-11-05 at once
  /// Where OAuth will hook in: asked after a 401 with the WWW-Authenticate value; gives new headers, or an
  /// Error for the caller.
  std::function<io::Task<std::map<std::string, std::string>>(std::string challenge)> on_unauthorized;
};

/// Streamable HTTP in both eras; falls back to HTTP+SSE as the specification says.
io::Task<std::unique_ptr<Peer>> connect_http(io::Loop executor, net::HttpClient& http, HttpTarget target,
                                             PeerOptions options, PeerObserver& observer);

}  // namespace relay::peer
