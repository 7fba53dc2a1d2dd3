// What comes in over a wire, and whose it is.
#include <algorithm>
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
  if (auto* request = std::get_if<protocol::Request>(&message))
    return take_request(std::move(*request), stream_of);
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

void Dialogue::take_request(protocol::Request request, std::optional<RequestId> stream_of) {
  if (request.method == "ping") return send_later(protocol::write_result(request.id, "{}"));
  const auto refuse = [&](const protocol::RpcError& error) {
    send_later(protocol::write_error(request.id, error));
  };
  if (!is_question(request.method))
    return refuse({protocol::code::kMethodNotFound, "no such method: " + request.method, {}});
  OpenRequest* open = find_addressee(stream_of);
  // Servers ask for the roots as soon as they are connected, when no client has asked for anything: there are
  // none then, which is no error.
  const auto is_a_clients = [](const auto& entry) { return !entry.second->exchange.session().empty(); };
  const bool nobody = open ? open->exchange.session().empty() : std::ranges::none_of(open_, is_a_clients);
  if (nobody && request.method == "roots/list")
    return send_later(protocol::write_result(request.id, R"({"roots":[]})"));
  if (!open) return refuse(why_nobody());
  Question question{.key = {},
                    .method = request.method,
                    .params = protocol::JsonText::trusted(std::string(request.params_text()))};
  put_question(*open, {std::move(request.id), std::move(question), !stream_of.has_value()});
}

void Dialogue::put_question(OpenRequest& open, ServerQuestion asked) {
  const auto refuse = [&](const protocol::RpcError& error) {
    send_later(protocol::write_error(asked.id, error));
  };
  if (open.questions.size() + open.askings.size() >= limits::kUpstreamQuestions)
    return refuse(protocol::to_rpc_error(busy("too many questions are open already")));
  // A server that hears of a refusal may give up at once, and what it asked beside it would be lost: a round
  // is answered as a whole.
  asked.refusal = find_refusal(asked.question, open.exchange.client());
  if (asked.refusal) open.exchange.cannot_answer(asked.question);
  if (asked.refusal && !open.exchange.asks_in_rounds()) return refuse(*asked.refusal);
  open.questions.push_back(std::move(asked));
  open.news.wake();
}

void Dialogue::reassign(std::deque<ServerQuestion> questions) {
  if (why_closed_) return;
  for (ServerQuestion& asked : questions)
    if (OpenRequest* other = asked.is_guess ? find_addressee(std::nullopt) : nullptr)
      put_question(*other, std::move(asked));
}

protocol::RpcError Dialogue::why_nobody() const {
  const char* why = open_.empty()
                        ? "no request is open that this could belong to"
                        : "requests of several clients are open, and nothing says which one this belongs to";
  return {protocol::code::kInvalidRequest, why, {}};
}

// Nothing on the wire says which request a question belongs to, unless it came on that request's own stream.
// A request that waits for an answer already is passed over: a call of a stateless client may wait for a long
// time. Requests of ours that no client stands behind (lists, probes) do not count while there are others.
Dialogue::OpenRequest* Dialogue::find_addressee(std::optional<RequestId> stream_of) {
  if (stream_of)
    if (OpenRequest* open = find(*stream_of)) return open;
  std::vector<OpenRequest*> clients, idle;
  OpenRequest* ours = nullptr;
  for (const auto& [id, open] : open_) {
    if (open->acknowledged || open->outcome) continue;  // answered ones only wait for their coroutine
    if (open->exchange.session().empty()) ours = open;
    if (open->exchange.session().empty()) continue;
    clients.push_back(open);
    if (open->askings.empty()) idle.push_back(open);
  }
  if (clients.empty()) return ours;
  const auto differ = [](const std::vector<OpenRequest*>& requests, auto who) {
    return std::ranges::any_of(requests, [&](const OpenRequest* one) {
      return (one->exchange.*who)() != (requests.front()->exchange.*who)();
    });
  };
  if (differ(clients, &RequestScope::principal)) return nullptr;
  const std::vector<OpenRequest*>& candidates = idle.empty() ? clients : idle;
  return differ(candidates, &RequestScope::session) ? nullptr : candidates.back();
}

void Dialogue::take_notification(const protocol::Notification& notification,
                                 std::optional<RequestId> stream_of) {
  const std::string_view method = notification.method;
  if (method == "notifications/progress") return take_progress(notification.params);
  if (method == "notifications/message") return take_log(notification.params, stream_of);
  if (method == "notifications/subscriptions/acknowledged")
    return take_acknowledgement(notification.params, stream_of);
  if (method == "notifications/cancelled") return retract_question(notification.params);
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
  open->exchange.progress(*value, json::find_number(params, "total"),
                          json::find_string(params, "message").value_or(""));
}

void Dialogue::take_log(const json::object& params, std::optional<RequestId> stream_of) {
  const auto level = protocol::find_log_level(json::find_string(params, "level").value_or(""))
                         .value_or(protocol::LogLevel::info);
  const std::string_view logger = json::find_string(params, "logger").value_or("");
  const json::value* data = json::find(params, "data");
  json::value copy = data ? *data : json::value();
  OpenRequest* open = find_addressee(stream_of);
  if (open && !open->exchange.session().empty()) return open->exchange.log(level, logger, std::move(copy));
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
void Dialogue::retract_question(const json::object& params) {
  const json::value* number = json::find(params, "requestId");
  if (!number) return;
  const auto listening = find_request_id(params, "requestId");
  if (OpenRequest* open = listening ? find(*listening) : nullptr; open && open->acknowledged)
    return fail_request(*listening, unavailable("the server ended the stream of changes"));
  const protocol::Id id = protocol::Id::from_text(json::write(*number));
  for (const auto& [key, open] : open_) {
    std::erase_if(open->questions, [&](const ServerQuestion& waiting) { return waiting.id == id; });
    for (Asking* asking : open->askings) {
      const auto named = std::ranges::find(asking->ids, std::optional(id));
      if (named == asking->ids.end()) continue;
      named->reset();
      asking->interrupted.wake();
    }
  }
}

}  // namespace relay::peer
