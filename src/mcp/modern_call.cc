#include "mcp/modern_call.h"

#include "base/limits.h"
#include "mcp/parked_calls.h"
#include "protocol/json_writer.h"
#include "protocol/request_state.h"

namespace relay::mcp {
namespace {

// Takes a parked call out of the store however its wait ends: answered, timed out, cancelled.
struct Unpark {
  ParkedCalls& parked;
  const std::string& id;
  ~Unpark() { parked.remove(id); }
};

struct CloseRound {
  std::shared_ptr<Round>& round;
  ~CloseRound() {
    if (round) round->done().set();
    round.reset();
  }
};

// The handler may have moved its arguments out of the request; its text is still whole.
json::object original_params(const protocol::Request& request) {
  auto params = json::parse_object(request.params_text());
  return params ? *std::move(params) : json::object();
}

}  // namespace

ModernCall::ModernCall(Server& server, authority::Caller caller, protocol::ModernEnvelope envelope,
                       protocol::Request request, std::shared_ptr<Reply> reply)
    : ServedRequest(server, std::move(request), std::move(reply)),
      caller_(std::move(caller)),
      envelope_(std::move(envelope)) {}

io::Task<std::vector<protocol::InputResponse>> ModernCall::ask_all(std::vector<protocol::Ask> asks) {
  if (asks.empty()) co_return std::vector<protocol::InputResponse>{};
  for (const protocol::Ask& ask : asks)
    if (auto missing = protocol::missing_capability(ask.request, client()))
      co_return fail(protocol::to_error(protocol::missing_capability_error(*std::move(missing))));
  // Rounds come one after the other: a tool that asks from two places at once asks twice.
  while (round_) {
    const std::shared_ptr<Round> current = round_;
    RELAY_CO_CHECK(co_await current->done().wait());
    RELAY_CO_CHECK(co_await io::yield());
  }
  if (++rounds_ > limits::kInputRounds) co_return fail(busy("the call asks too often"));
  if (task_) co_return co_await ask_in_task(std::move(asks));
  co_return co_await ask_in_round(std::move(asks));
}

io::Task<std::vector<protocol::InputResponse>> ModernCall::ask_in_round(std::vector<protocol::Ask> asks) {
  const std::shared_ptr<Round> round = round_ = std::make_shared<Round>(server_.executor(), std::move(asks));
  const CloseRound close{round_};
  // Answers that came with the first request, before anything was asked.
  if (const json::object* offered = rounds_ == 1 ? json::find_object(params(), "inputResponses") : nullptr)
    round->take(*offered);
  if (round->is_complete()) co_return round->take_answers();
  RELAY_CO_CHECK(park());
  const Unpark unpark{server_.parked(), parked_id_};
  send_input_required();
  RELAY_CO_CHECK(co_await io::with_timeout(round->done().wait(), server_.options().parked_for,
                                           "nobody answered in time"));
  co_return round->take_answers();
}

io::Task<std::vector<protocol::InputResponse>> ModernCall::ask_in_task(std::vector<protocol::Ask> asks) {
  const std::shared_ptr<Round> round = task_->round = round_ =
      std::make_shared<Round>(server_.executor(), std::move(asks));
  const CloseRound close{round_};
  const CloseRound close_task{task_->round};
  server_.tasks().set_status(*task_, TaskStatus::input_required);
  RELAY_CO_CHECK(co_await round->done().wait());
  task_->round.reset();
  server_.tasks().set_status(*task_, TaskStatus::working);
  co_return round->take_answers();
}

Result<void> ModernCall::park() {
  if (parked_id_.empty()) parked_id_ = server_.ids().make("call_", 16);
  return server_.parked().park(parked_id_, std::static_pointer_cast<ModernCall>(shared_from_this()));
}

void ModernCall::send_input_required() {
  if (!reply_) return;
  const protocol::RequestState state{parked_id_, rounds_,
                                     server_.clock().wall() + server_.options().parked_for};
  const protocol::StateBinding binding{caller_.principal,
                                       protocol::digest_request(request_.method, original_params(request_))};
  std::string result;
  protocol::ObjectWriter writer(result);
  writer.raw("resultType", "\"input_required\"");
  writer.raw("inputRequests", round_->write_open(revision()));
  writer.text("requestState", protocol::sign_request_state(server_.state_key(), state, binding));
  writer.raw("_meta", "{\"io.modelcontextprotocol/serverInfo\":" + server_.server_info() + "}");
  writer.finish();
  const std::shared_ptr<Reply> reply = std::move(reply_);
  reply->finish({protocol::write_result(answer_id_, result), 200});
}

bool ModernCall::resume(int round, const protocol::Request& retry, protocol::ModernEnvelope envelope,
                        std::shared_ptr<Reply> reply) {
  if (!round_ || round != rounds_ || reply_) return false;
  envelope_ = std::move(envelope);
  attach(std::move(reply), retry.id, retry.meta());
  if (const json::object* responses = json::find_object(retry.params, "inputResponses"))
    round_->take(*responses);
  if (!round_->is_complete()) send_input_required();
  return true;
}

std::string ModernCall::write_result(const ResultMembers& outcome) const {
  return write_modern_result(outcome, server_.server_info());
}

std::string ModernCall::write_created_task(const TaskRecord& task) const {
  return "{\"resultType\":\"task\"," + write_modern_task(task) +
         ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" + server_.server_info() + "}}";
}

int ModernCall::status_of(const protocol::RpcError& error) const {
  return error.code == protocol::code::kMissingCapability ? 400 : 200;
}

}  // namespace relay::mcp
