#include "pipeline/provider.h"

namespace relay::pipeline {

io::Task<void> Provider::prepare(const authority::Caller&) {
  co_return Result<void>{};
}
void Provider::append_tools(const authority::Caller&, std::vector<protocol::Tool>&) const {}
std::shared_ptr<const Provider::Entry> Provider::find(const authority::Caller&, std::string_view) const {
  return nullptr;
}
void Provider::append_resources(const authority::Caller&, std::vector<protocol::Resource>&) const {}
void Provider::append_templates(const authority::Caller&, std::vector<protocol::ResourceTemplate>&) const {}
std::optional<FoundResource> Provider::find_resource(const authority::Caller&, std::string_view) const {
  return std::nullopt;
}
std::optional<protocol::Caching> Provider::caching_of(std::string_view) const {
  return std::nullopt;
}
io::Task<bool> Provider::watch(const Recorded&, std::string) {
  co_return false;
}
void Provider::unwatch(const authority::Caller&, std::string_view) {}
std::optional<std::string> Provider::find_view(const authority::Caller&, std::string_view) const {
  return std::nullopt;
}
io::Task<void> Provider::append_changing(const authority::Caller&, std::vector<protocol::Resource>&) {
  co_return Result<void>{};
}
void Provider::session_ended(const authority::Caller&) {}
void Provider::append_prompts(const authority::Caller&, std::vector<protocol::Prompt>&) const {}
std::shared_ptr<const GuardedPrompt> Provider::find_prompt(const authority::Caller&, std::string_view) const {
  return nullptr;
}
io::Task<std::optional<protocol::Completion>> Provider::complete(serving::Context&,
                                                                 const protocol::CompletionRequest&) {
  co_return std::optional<protocol::Completion>();
}
void Provider::want_log_level(protocol::LogLevel) {}

}  // namespace relay::pipeline
