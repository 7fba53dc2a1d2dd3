#include "mcp/legacy_call.h"

#include <fmt/format.h>

#include "protocol/json_writer.h"
#include "protocol/modern_envelope.h"

namespace relay::mcp {
namespace {

// Questions that nobody waits for any more: forgotten here, and the client is told to close its dialogs.
class OpenAsks {
 public:
  OpenAsks(Session& session, std::shared_ptr<Reply> reply) : session_(session), reply_(std::move(reply)) {}
  OpenAsks(const OpenAsks&) = delete;
  OpenAsks& operator=(const OpenAsks&) = delete;
  ~OpenAsks() {
    for (const auto& [id, ask] : asks) {
      if (ask->answer) continue;
      session_.remove_ask(id);
      if (reply_)
        reply_->send(
            protocol::write_notification("notifications/cancelled", "{\"requestId\":" + id.text() + "}"));
    }
  }
  std::vector<std::pair<protocol::Id, std::shared_ptr<PendingAsk>>> asks;

 private:
  Session& session_;
  std::shared_ptr<Reply> reply_;
};

Result<protocol::InputResponse> read_answer(const protocol::InputRequest& request, const PendingAsk& ask) {
  if (!ask.answer->has_value())
    return fail(unavailable(fmt::format("the client answered {} with: {}", protocol::method_of(request),
                                        ask.answer->error().message)));
  return protocol::parse_answer(request, **ask.answer);
}

}  // namespace

std::string related_task_member(std::string_view task_id) {
  std::string out;
  json::append_quoted(out, protocol::meta::kRelatedTask);
  out += ":{\"taskId\":";
  json::append_quoted(out, task_id);
  out += '}';
  return out;
}

io::Task<std::vector<protocol::InputResponse>> LegacyCall::ask_all(std::vector<protocol::Ask> asks) {
  for (const protocol::Ask& ask : asks)
    if (protocol::missing_capability(ask.request, client()))
      co_return fail(
          unavailable(fmt::format("the client does not support {}", protocol::method_of(ask.request))));
  OpenAsks open(*session_, reply_);
  if (task_) server_.tasks().set_status(*task_, TaskStatus::input_required);
  for (protocol::Ask& ask : asks) {
    auto pending = std::make_shared<PendingAsk>(server_.executor());
    const protocol::Id id = session_->add_ask(pending);
    open.asks.emplace_back(id, std::move(pending));
    RELAY_CO_TRY(const std::string params, params_for(ask.request));
    send_ask(protocol::write_request(id, protocol::method_of(ask.request), params));
  }
  const auto patience = server_.options().parked_for;
  std::vector<protocol::InputResponse> answers;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    PendingAsk& pending = *open.asks[i].second;
    RELAY_CO_CHECK(co_await io::with_timeout(pending.answered.wait(), patience, "nobody answered in time"));
    RELAY_CO_TRY(auto answer, read_answer(asks[i].request, pending));
    answers.push_back(std::move(answer));
  }
  if (task_) server_.tasks().set_status(*task_, TaskStatus::working);
  co_return answers;
}

// Modern servers do not number the pages they ask the user to open; legacy clients want a number.
void LegacyCall::name_elicitation(protocol::RawRequest& request) {
  const json::object* params = request.params.value().if_object();
  if (!params || json::find_string(*params, "mode") != "url" || params->contains("elicitationId")) return;
  std::string named;
  protocol::append_with_text(named, request.params, "elicitationId", server_.ids().make("elicit_"));
  request.params = protocol::JsonText::trusted(std::move(named));
}

Result<std::string> LegacyCall::params_for(protocol::InputRequest& request) {
  if (auto* page = std::get_if<protocol::ElicitUrl>(&request); page && page->id.empty())
    page->id = server_.ids().make("elicit_");
  if (auto* raw = std::get_if<protocol::RawRequest>(&request)) name_elicitation(*raw);
  std::string params = protocol::params_of(request, revision());
  if (!task_) return params;
  params.pop_back();
  params += params == "{" ? "" : ",";
  return params + "\"_meta\":{" + related_task_member(task_->id) + "}}";
}

void LegacyCall::send_ask(std::string message) {
  if (!task_) {
    if (reply_) reply_->send(std::move(message));
  } else if (const auto asking = task_->asking.lock(); asking && !asking->finished()) {
    asking->send(std::move(message));
  } else {
    task_->unsent.push_back(std::move(message));
  }
}

std::string LegacyCall::write_created_task(const TaskRecord& task) const {
  return "{\"task\":" + write_legacy_task(task) + "}";
}

}  // namespace relay::mcp
