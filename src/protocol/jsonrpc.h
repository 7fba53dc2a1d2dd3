// JSON-RPC 2.0 messages as values.
//
// Parsing is strict, because what is parsed here is later judged by policy and may be passed on byte for
// byte: a message with duplicate keys anywhere, an id that is not a string or an integer, or parameters that
// are not an object is refused. A request keeps its own text, so that arguments can be forwarded exactly as
// they were spelled.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"

namespace relay::protocol {

// Codes with a meaning in MCP. The range -32000..-32019 belongs to implementations and old revisions.
namespace code {
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kSessionNotFound = -32001;
inline constexpr int kResourceNotFound = -32002;        // legacy revisions only
inline constexpr int kHeaderMismatch = -32020;          // modern, HTTP 400
inline constexpr int kMissingCapability = -32021;       // modern, HTTP 400
inline constexpr int kUnsupportedVersion = -32022;      // modern, HTTP 400
inline constexpr int kUrlElicitationRequired = -32042;  // 2025-11-25 only
}  // namespace code

/// The id of a request, kept as the JSON text that is echoed: 7, "seven", 1.0.
class Id {
 public:
  Id() : text_("null") {}
  static Id number(std::int64_t value) { return Id(std::to_string(value)); }
  static Id string(std::string_view value) { return Id(json::quote(value)); }
  /// Precondition: the text of a JSON string, integer or null.
  static Id from_text(std::string text) { return Id(std::move(text)); }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool is_null() const { return text_ == "null"; }
  friend bool operator==(const Id&, const Id&) = default;

 private:
  explicit Id(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

struct RpcError {
  int code = code::kInternalError;
  std::string message;
  std::optional<json::value> data;
};

/// The error a peer sees of one of ours: its own JSON-RPC form where it has one.
RpcError to_rpc_error(const Error& error);
/// The way back: an Error that reaches the client as exactly this JSON-RPC error, whatever is called.
Error to_error(RpcError error);

struct Request {
  Id id;
  std::string method;
  json::object params;  // empty when there are none
  std::shared_ptr<const std::string> text =
      {};  // the whole message as it came; null for one that never was text

  /// The bytes of `params`, "{}" when there are none. Costs a scan of the message.
  [[nodiscard]] std::string_view params_text() const;
  /// params._meta, an empty object when there is none.
  [[nodiscard]] const json::object& meta() const;
};

struct Notification {
  std::string method;
  json::object params;
  std::string text;
};

struct Response {
  Id id;
  std::expected<json::value, RpcError> outcome;
  std::string text;

  /// The bytes of `result`. Precondition: outcome has a value.
  [[nodiscard]] std::string_view result_text() const;
};

using Message = std::variant<Request, Notification, Response>;

/// A message that was refused, and what to answer: the id is null when none could be read.
struct MalformedMessage {
  Id id;
  RpcError error;
};

/// One message, or a batch of them.
struct Incoming {
  std::vector<std::expected<Message, MalformedMessage>> messages;
  bool is_batch = false;
};

/// Some programs on Windows begin what they send with this mark of UTF-8. Transports drop it; it is no JSON.
void drop_byte_order_mark(std::string& text);
std::expected<Message, MalformedMessage> parse_message(std::string text);
/// The same, but takes an array too. An empty array and one over limits::kBatchMessages are refused as a
/// whole.
std::expected<Incoming, MalformedMessage> parse_incoming(std::string text);

// Writing. Results and parameters are JSON text already: each is serialised once.
std::string write_result(const Id& id, std::string_view result);
std::string write_error(const Id& id, const RpcError& error);
/// {"code":...,"message":...,"data":...}: for where an error stands inside something else.
std::string write_error_object(const RpcError& error);
std::string write_notification(std::string_view method, std::string_view params);
std::string write_request(const Id& id, std::string_view method, std::string_view params);

}  // namespace relay::protocol
