#include "world/live_toolset.h"

#include <utility>

namespace relay::world {

void LiveToolset::set_offer(tools::Providers offer) {
  offer_ = std::make_shared<const tools::Providers>(std::move(offer));
  offers_.push_back(offer_);
}

const tools::Providers& LiveToolset::offered() const {
  static const tools::Providers kNothing;
  return offer_ ? *offer_ : kNothing;
}

template <class Ask>
auto LiveToolset::first_answer(Ask ask) const {
  decltype(ask(*offered().front())) answer{};
  for (const auto& provider : offered())
    if (!answer) answer = ask(*provider);
  return answer;
}

io::Task<void> LiveToolset::prepare(const authority::Caller& caller) {
  const Offer offer = offer_;  // also while it is replaced
  if (!offer) co_return Result<void>{};
  for (const auto& provider : *offer) RELAY_CO_CHECK(co_await provider->prepare(caller));
  co_return Result<void>{};
}

void LiveToolset::append_tools(const authority::Caller& caller, std::vector<protocol::Tool>& out) const {
  for (const auto& provider : offered()) provider->append_tools(caller, out);
}

std::shared_ptr<const pipeline::Provider::Entry> LiveToolset::find(const authority::Caller& caller,
                                                                   std::string_view name) const {
  return first_answer([&](const Provider& provider) { return provider.find(caller, name); });
}

void LiveToolset::append_resources(const authority::Caller& caller,
                                   std::vector<protocol::Resource>& out) const {
  for (const auto& provider : offered()) provider->append_resources(caller, out);
}

void LiveToolset::append_templates(const authority::Caller& caller,
                                   std::vector<protocol::ResourceTemplate>& out) const {
  for (const auto& provider : offered()) provider->append_templates(caller, out);
}

std::optional<pipeline::FoundResource> LiveToolset::find_resource(const authority::Caller& caller,
                                                                  std::string_view uri) const {
  return first_answer([&](const Provider& provider) { return provider.find_resource(caller, uri); });
}

std::optional<protocol::Caching> LiveToolset::caching_of(std::string_view uri) const {
  return first_answer([&](const Provider& provider) { return provider.caching_of(uri); });
}

io::Task<bool> LiveToolset::watch(const authority::Recorded& recorded, std::string uri) {
  const Offer offer = offer_;
  if (!offer) co_return false;
  for (const auto& provider : *offer) {
    RELAY_CO_TRY(const bool is_watched, co_await provider->watch(recorded, uri));
    if (is_watched) co_return true;
  }
  co_return false;
}

void LiveToolset::unwatch(const authority::Caller& caller, std::string_view uri) {
  for (const Offer& offer : offers_)
    for (const auto& provider : *offer) provider->unwatch(caller, uri);
}

std::optional<std::string> LiveToolset::find_view(const authority::Caller& caller,
                                                  std::string_view uri) const {
  return first_answer([&](const Provider& provider) { return provider.find_view(caller, uri); });
}

io::Task<void> LiveToolset::append_changing(const authority::Caller& caller,
                                            std::vector<protocol::Resource>& out) {
  const Offer offer = offer_;
  if (!offer) co_return Result<void>{};
  for (const auto& provider : *offer) RELAY_CO_CHECK(co_await provider->append_changing(caller, out));
  co_return Result<void>{};
}

void LiveToolset::session_ended(const authority::Caller& caller) {
  for (const Offer& offer : offers_)
    for (const auto& provider : *offer) provider->session_ended(caller);
}

void LiveToolset::append_prompts(const authority::Caller& caller, std::vector<protocol::Prompt>& out) const {
  for (const auto& provider : offered()) provider->append_prompts(caller, out);
}

std::shared_ptr<const pipeline::GuardedPrompt> LiveToolset::find_prompt(const authority::Caller& caller,
                                                                        std::string_view name) const {
  return first_answer([&](const Provider& provider) { return provider.find_prompt(caller, name); });
}

io::Task<std::optional<protocol::Completion>> LiveToolset::complete(
    serving::Context& context, const protocol::CompletionRequest& request) {
  const Offer offer = offer_;
  std::optional<protocol::Completion> completion;
  if (!offer) co_return completion;
  for (const auto& provider : *offer) {
    if (completion) break;
    RELAY_CO_TRY(completion, co_await provider->complete(context, request));
  }
  co_return completion;
}

void LiveToolset::want_log_level(protocol::LogLevel level) {
  for (const auto& provider : offered()) provider->want_log_level(level);
}

}  // namespace relay::world
