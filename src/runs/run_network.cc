#include "runs/run_network.h"

#include <fmt/format.h>

namespace relay::runs {
namespace {

using executors::HostCall;
using executors::HostReply;

constexpr std::size_t kOpenResponses = 256;               // of one run, read or not
constexpr std::uint64_t kWholeBytes = 64 * limits::kKiB;  // an answer this short comes in one piece

std::int64_t number_of(const HostCall& call, std::string_view name) {
  return json::find_int(call.args, name).value_or(0);
}

HostReply nothing() {
  return HostReply{.result = json::object(), .body = {}, .failure = {}};
}

bool has_no_body(int status) {
  return status == 204 || status == 205 || status == 304;
}

}  // namespace

io::Task<HostReply> GuardedNetwork::call(HostCall call) {
  const auto self = shared_from_this();
  if (call.op == "fetch") co_return co_await fetch(std::move(call));
  if (call.op == "fetch.read") co_return co_await read(number_of(call, "stream"));
  if (call.op == "fetch.write") co_return co_await write(std::move(call));
  if (call.op != "fetch.close") co_return fail(invalid("fetch: there is read, write and close"));
  downloads_.erase(number_of(call, "stream"));
  co_return nothing();
}

Result<void> GuardedNetwork::check_room() {
  if (downloads_.size() < kOpenResponses) return {};
  Error error =
      busy(fmt::format("fetch: {} responses are open; read their bodies or cancel them", downloads_.size()));
  fetch_->report({fetch::BlockedFetch::What::flood, "", "", error.message});
  return fail(std::move(error));
}

io::Task<HostReply> GuardedNetwork::fetch(HostCall call) {
  RELAY_CO_CHECK(check_room());
  RELAY_CO_TRY(fetch::FetchRequest request, fetch::parse_fetch_request(call.args, std::move(call.body)));
  const std::int64_t number = number_of(call, "upload");
  if (number == 0) {
    RELAY_CO_TRY(std::unique_ptr<fetch::FetchResponse> response, co_await fetch_->send(std::move(request)));
    co_return co_await reply_to(std::move(response));
  }
  if (request.method == "GET" || request.method == "HEAD" || uploads_.contains(number) ||
      uploads_.size() >= kOpenResponses)
    co_return fail(invalid("fetch: this request cannot have a body that streams"));
  const auto upload = std::make_shared<Upload>(loop_, fetch_->max_body_bytes());
  uploads_.emplace(number, upload);
  const std::shared_ptr<void> over(nullptr, [this, number, upload](void*) {
    upload->close();
    uploads_.erase(number);
  });
  request.body_source = upload->source();
  RELAY_CO_TRY(std::unique_ptr<fetch::FetchResponse> response, co_await fetch_->send(std::move(request)));
  co_return co_await reply_to(std::move(response));
}

io::Task<HostReply> GuardedNetwork::reply_to(std::unique_ptr<fetch::FetchResponse> response) {
  HostReply reply;
  json::object head = fetch::reply_value(response->head());
  const bool whole = has_no_body(response->head().status) ||
                     response->announced_bytes().value_or(kWholeBytes + 1) <= kWholeBytes;
  if (whole) {
    RELAY_CO_TRY(reply.body, co_await response->read_rest());
  } else {
    head["stream"] = next_;
    downloads_.emplace(next_++, std::make_shared<Download>(loop_, std::move(response)));
  }
  reply.result = std::move(head);
  co_return reply;
}

io::Task<HostReply> GuardedNetwork::read(std::int64_t number) {
  const auto found = downloads_.find(number);
  if (found == downloads_.end()) co_return fail(invalid("fetch: this body has ended or was closed"));
  const std::shared_ptr<Download> download = found->second;
  auto piece = co_await download->read();
  if (!piece || !*piece) downloads_.erase(number);
  if (!piece) co_return fail(piece.error());
  HostReply reply;
  reply.result = json::object{{"done", !piece->has_value()}};
  if (*piece) reply.body = std::move(**piece);
  co_return reply;
}

io::Task<HostReply> GuardedNetwork::write(HostCall call) {
  const auto found = uploads_.find(number_of(call, "upload"));
  if (found == uploads_.end()) co_return fail(cancelled("fetch: the request is over"));
  const std::shared_ptr<Upload> upload = found->second;
  if (json::find_bool(call.args, "abort").value_or(false)) {
    upload->abort();
    co_return nothing();
  }
  if (!call.body.empty()) RELAY_CO_CHECK(co_await upload->write(std::move(call.body)));
  if (json::find_bool(call.args, "end").value_or(false)) upload->finish();
  co_return nothing();
}

io::Task<std::string> GuardedNetwork::fetch_bytes(std::string url) {
  fetch::FetchRequest request;
  request.url = url;
  RELAY_CO_TRY(std::unique_ptr<fetch::FetchResponse> response, co_await fetch_->send(std::move(request)));
  if (response->head().status != 200)
    co_return fail(unavailable(fmt::format("{} answered {}", url, response->head().status)));
  co_return co_await response->read_rest();
}

}  // namespace relay::runs
