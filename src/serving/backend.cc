#include "serving/backend.h"

#include <fmt/format.h>

namespace relay::serving {

io::Task<protocol::Listing<protocol::Resource>> Backend::list_resources(const authority::Caller&) {
  co_return protocol::Listing<protocol::Resource>{};
}
io::Task<protocol::Listing<protocol::ResourceTemplate>> Backend::list_templates(const authority::Caller&) {
  co_return protocol::Listing<protocol::ResourceTemplate>{};
}
io::Task<protocol::Listing<protocol::Prompt>> Backend::list_prompts(const authority::Caller&) {
  co_return protocol::Listing<protocol::Prompt>{};
}
io::Task<protocol::ReadResult> Backend::read_resource(Context&, std::string uri) {
  co_return fail(not_found(fmt::format("Resource not found: {}", uri)));
}
io::Task<protocol::PromptResult> Backend::get_prompt(Context&, std::string name, authority::Arguments) {
  co_return fail(invalid(fmt::format("Unknown prompt: {}", name)));
}
io::Task<protocol::Completion> Backend::complete(Context&, protocol::CompletionRequest) {
  co_return protocol::Completion{};
}
protocol::Caching Backend::caching_of(std::string_view) const {
  return {};
}
io::Task<void> Backend::watch(const authority::Caller&, std::string) {
  co_return Result<void>{};
}
void Backend::unwatch(const authority::Caller&, std::string_view) {}
std::string Backend::view_of(const authority::Caller&, std::string_view) const {
  return {};
}
void Backend::session_ended(const authority::Caller&) {}
void Backend::want_log_level(protocol::LogLevel) {}

Error unknown_tool(std::string_view name) {
  return protocol::to_error({protocol::code::kInvalidParams, fmt::format("Unknown tool: {}", name), {}});
}

}  // namespace relay::serving
