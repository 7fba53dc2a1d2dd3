// What comes in over a wire, and whose it is.
#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "peer/peer_dialogue.h"
#include "peer/peer_params.h"
#include "peer/peer_questions.h"
#include "protocol/modern_envelope.h"

namespace relay::peer {
namespace {

constexpr std::size_t kShownBytes = 200;  // of something odd

std::optional<RequestId> find_number(std::string_view text) {
  RequestId number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<RequestId> find_request_id(const json::object& members, std::string_view key) {
  const json::value* found = json::find(members, key);
  return found ? find_number(json::write(*found)) : std::nullopt;
}

std::string shown(std::string_view text) {
  return to_valid_utf8(utf8_prefix(text, kShownBytes)) + (text.size() > kShownBytes ? "…" : "");
}

}  // namespace

void Dialogue::take(std::string text, std::optional<RequestId> stream_of) {
  const auto keep = shared_from_this();
  const std::string_view trimmed = trim_ascii(text);
  if (trimmed.empty() || why_closed_) return;
  if (trimmed.front() != '{' && trimmed.front() != '[') return oddity("not a message: " + shown(trimmed));
  if (trimmed.front() == '{') {
    auto message = protocol::parse_message(text);
    if (message) return take_message(*std::move(message), stream_of);
    return take_malformed(text, stream_of, message.error());
  }
  auto incoming = protocol::parse_incoming(text);
  if (!incoming) return take_malformed(text, stream_of, incoming.error());
  for (auto& message : incoming->messages) {
    if (message)
      take_message(*std::move(message), stream_of);
    else
      oddity("a malformed message in a batch: " + message.error().error.message);
  }
}

// An answer that cannot be read is an answer all the same, if we can see to what: better a clear error than a
// time-out.
void Dialogue::take_malformed(const std::string& text, std::optional<RequestId> stream_of,
                              const protocol::MalformedMessage& refusal) {
  oddity(fmt::format("not a message ({}): {}", refusal.error.message, shown(text)));
  std::optional<RequestId> id = stream_of;
  if (const auto parsed = json::parse_object(text); parsed && !parsed->contains("method"))
    id = find_request_id(*parsed, "id");
  else if (!parsed && !id)
    id = find_spelled_id(text, text);
  if (id) fail_request(*id, unavailable("the server's answer is malformed: " + refusal.error.message));
}

void Dialogue::take_message(protocol::Message message, std::optional<RequestId> stream_of) {
  if (auto* response = std::get_if<protocol::Response>(&message))
    return take_answer(std::move(*response), stream_of);
  if (auto* request = std::get_if<protocol::Request>(&message)) return take_request(*request, stream_of);
  take_notification(std::get<protocol::Notification>(message), stream_of);
}

void Dialogue::take_answer(protocol::Response response, std::optional<RequestId> stream_of) {
  const auto id = response.id.is_null() ? stream_of : find_number(response.id.text());
  OpenRequest* open = id ? find(*id) : nullptr;
  if (open && !open->outcome) {
    open->on_wire = false;
    return open->finish(std::move(response));
  }
  if (id && unawaited_.erase(*id) > 0) return;
  const bool sent = id && *id > 0 && *id <= last_id_;
  oddity(sent ? fmt::format("a late or second answer to request {}", *id)
              : fmt::format("an answer to request {}, which was never sent", shown(response.id.text())));
}

void Dialogue::take_request(const protocol::Request& request, std::optional<RequestId> stream_of) {
  if (request.method == "ping") return send_later(protocol::write_result(request.id, "{}"));
  if (!is_question(request.method))
    return send_later(protocol::write_error(
        request.id, {protocol::code::kMethodNotFound, "no such method: " + request.method, {}}));
  if (!stream_of) return questions_.take_unaddressed(request);
  OpenRequest* open = find(*stream_of);
  questions_.take_addressed(request, open ? &open->asked : nullptr);
}

AskedRequest* Dialogue::find_addressee(std::optional<RequestId> stream_of) {
  if (stream_of)
    if (OpenRequest* open = find(*stream_of)) return &open->asked;
  return questions_.find_addressee();
}

void Dialogue::take_notification(const protocol::Notification& notification,
                                 std::optional<RequestId> stream_of) {
  const std::string_view method = notification.method;
  if (method == "notifications/progress") return take_progress(notification.params);
  if (method == "notifications/message") return take_log(notification.params, stream_of);
  if (method == "notifications/subscriptions/acknowledged")
    return take_acknowledgement(notification.params, stream_of);
  if (method == "notifications/cancelled") return take_cancellation(notification.params);
  if (!observer_) return;
  if (method == "notifications/tools/list_changed")
    return observer_->server_event(protocol::ListChanged{ListKind::tools});
  if (method == "notifications/resources/list_changed")
    return observer_->server_event(protocol::ListChanged{ListKind::resources});
  if (method == "notifications/prompts/list_changed")
    return observer_->server_event(protocol::ListChanged{ListKind::prompts});
  if (method == "notifications/resources/updated")
    if (const auto uri = json::find_string(notification.params, "uri"))
      observer_->server_event(protocol::ResourceUpdated{std::string(*uri)});
}

void Dialogue::take_progress(const json::object& params) {
  const auto id = find_request_id(params, "progressToken");
  OpenRequest* open = id ? find(*id) : nullptr;
  const auto value = json::find_number(params, "progress");
  if (!open || open->outcome || !value || (open->progress && *value <= *open->progress)) return;
  open->progress = value;
  open->heard = std::chrono::steady_clock::now();
  open->asked.scope().progress(*value, json::find_number(params, "total"),
                               json::find_string(params, "message").value_or(""));
}

void Dialogue::take_log(const json::object& params, std::optional<RequestId> stream_of) {
  const auto level = protocol::find_log_level(json::find_string(params, "level").value_or(""))
                         .value_or(protocol::LogLevel::info);
  const std::string_view logger = json::find_string(params, "logger").value_or("");
  const json::value* data = json::find(params, "data");
  json::value copy = data ? *data : json::value();
  AskedRequest* asked = find_addressee(stream_of);
  if (asked && !asked->scope().session().empty()) return asked->scope().log(level, logger, std::move(copy));
  if (observer_) observer_->server_event(protocol::LogLine{level, std::string(logger), std::move(copy)});
}

void Dialogue::take_acknowledgement(const json::object& params, std::optional<RequestId> stream_of) {
  const json::object* meta = json::find_object(params, "_meta");
  const auto named = meta ? find_request_id(*meta, protocol::meta::kSubscription) : std::nullopt;
  const auto id = named ? named : stream_of;
  OpenRequest* open = id ? find(*id) : nullptr;
  if (open && open->acknowledged) open->acknowledged(params);
}

// The server no longer wants the answer to a request of its own, or (modern) it ends a listen stream.
void Dialogue::take_cancellation(const json::object& params) {
  const json::value* number = json::find(params, "requestId");
  if (!number) return;
  const auto listening = find_request_id(params, "requestId");
  if (OpenRequest* open = listening ? find(*listening) : nullptr; open && open->acknowledged)
    return fail_request(*listening, unavailable("the server ended the stream of changes"));
  questions_.retract(protocol::Id::from_text(json::write(*number)));
}

}  // namespace relay::peer
