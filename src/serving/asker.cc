#include "serving/asker.h"

namespace relay::serving {
namespace {

// One question is a round of one.
template <class FinalMessage, class Request>
io::Task<FinalMessage> ask_one(Asker& asker, Request request, std::string key) {
  std::vector<protocol::Ask> asks;
  asks.push_back({std::move(request), std::move(key)});
  RELAY_CO_TRY(auto answers, co_await asker.ask_all(std::move(asks)));
  FinalMessage* answer = answers.empty() ? nullptr : std::get_if<FinalMessage>(&answers.front());
  if (!answer) co_return fail(internal("an answer of another type came back"));
  co_return std::move(*answer);
}

}  // namespace

io::Task<protocol::ElicitResult> Asker::elicit(protocol::ElicitForm form, std::string key) {
  return ask_one<protocol::ElicitResult>(*this, std::move(form), std::move(key));
}
io::Task<protocol::ElicitResult> Asker::elicit(protocol::ElicitUrl page, std::string key) {
  return ask_one<protocol::ElicitResult>(*this, std::move(page), std::move(key));
}
io::Task<protocol::SampleResult> Asker::sample(protocol::SampleRequest request, std::string key) {
  return ask_one<protocol::SampleResult>(*this, std::move(request), std::move(key));
}
io::Task<std::vector<protocol::Root>> Asker::roots(std::string key) {
  RELAY_CO_TRY(protocol::RootsResult result,
               co_await ask_one<protocol::RootsResult>(*this, protocol::RootsRequest{}, std::move(key)));
  co_return std::move(result.roots);
}

}  // namespace relay::serving
