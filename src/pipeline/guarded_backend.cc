#include "pipeline/guarded_backend.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "net/http.h"

namespace relay::pipeline {

using authority::Call;
using protocol::Listing;
using protocol::PromptResult;
using protocol::ReadResult;
using protocol::ToolResult;

namespace {

constexpr std::size_t kResourceBudgetBytes = limits::kKeptResultBytes;  // a reader asked for the whole of it

template <class T>
Listing<T> listing_of(std::vector<T> items) {
  Listing<T> listing;
  listing.items = std::make_shared<const std::vector<T>>(std::move(items));
  return listing;
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(json::view(value.get_string())) : json::write(value);
}

std::vector<authority::CallField> fields_by_name(const json::object& arguments) {
  std::vector<authority::CallField> fields;
  for (const auto& member : arguments) fields.push_back({std::string(member.key()), text_of(member.value())});
  return fields;
}

// The URI as it is and decoded: "%61" must not hide an "a".
void describe_resource(Call& call, const FoundResource& found, const std::string& uri) {
  call.upstream = found.upstream;
  call.tier = Tier::read_only;
  call.policy_text = uri;
  call.fields = found.fields;
  call.fields.push_back({"uri", uri});
  if (auto decoded = net::find_percent_decoded(uri); decoded && *decoded != uri)
    call.fields.push_back({"uri", to_valid_utf8(*decoded)});
}

// Only for arguments that fit the schema: a toolset's functions rely on it.
void judge(Call& call, const GuardedTool& tool) {
  const json::object& arguments = call.args.object();
  call.tier = tool.classify ? std::max(tool.tier, tool.classify(arguments)) : tool.tier;
  call.policy_text = tool.policy_text ? tool.policy_text(arguments) : json::write(arguments);
  call.fields = tool.fields ? tool.fields(arguments) : fields_by_name(arguments);
}

std::string problems_of(const Provider::Entry& entry, const Call& call) {
  if (!entry.input) return {};
  const auto problems = entry.input->check(call.args.value());
  return problems.empty() ? std::string() : fmt::format("ValidationError: {}", protocol::describe(problems));
}

// A tool that promises a schema and breaks the promise is our defect; the client must not have to find out.
Result<ToolResult> check_output(const Provider::Entry& entry, Result<ToolResult> result) {
  if (!result || !entry.output || result->is_error || result->raw) return result;
  if (!result->structured)
    return fail(internal(fmt::format("{} gave no structured result", entry.guarded.tool.name)));
  const auto problems = entry.output->check(*result->structured);
  if (problems.empty()) return result;
  return fail(internal(
      fmt::format("{} broke its output schema: {}", entry.guarded.tool.name, protocol::describe(problems))));
}

ReadResult to_read_result(const std::string& uri, Slice slice) {
  ReadResult result;
  result.meta = {{"offset", slice.offset}, {"totalBytes", slice.total_bytes}};
  if (!slice.last()) result.meta["nextOffset"] = slice.next_offset();
  result.contents.push_back({uri, "text/plain", std::move(slice.text), {}});
  return result;
}

GuardedResource kept_results(ResultsStore& store) {
  GuardedResource resource{.name = "results"};
  resource.resource_template.uri_template = "relay://results/{id}";
  resource.resource_template.name = "results";
  resource.resource_template.description =
      "What did not fit a result: ?offset=N&length=N in bytes, or ?line=N&lines=N";
  resource.resource_template.mime_type = "text/plain";
  resource.handler = [&store](serving::Context& context, const Recorded& recorded,
                              const protocol::UriVariables&) -> io::Task<ReadResult> {
    const std::string uri(*json::find_string(recorded.call().args.object(), "uri"));
    RELAY_CO_TRY(Slice slice, store.read(context.caller().principal, uri));
    co_return to_read_result(uri, std::move(slice));
  };
  return resource;
}

}  // namespace

GuardedBackend::GuardedBackend(serving::Identity identity, Pipeline& pipeline, IdMaker ids)
    : identity_(std::move(identity)), pipeline_(pipeline), ids_(std::move(ids)), own_("results") {
  own_.add_resource(kept_results(pipeline.results()));
  providers_.push_back(&own_);
}

void GuardedBackend::add(Provider& provider) {
  providers_.push_back(&provider);
  check_read_tool();
}

void GuardedBackend::set_tool_settings(ToolSettings settings) {
  settings_ = std::move(settings);
  check_read_tool();
}

void GuardedBackend::check_read_tool() {
  ResultsStore& results = pipeline_.results();
  if (!is_offered(results.read_tool())) results.set_read_tool({});
}

// One after the other, but each bounded in itself: the gateway asks its servers all at once.
io::Task<void> GuardedBackend::prepare(const authority::Caller& caller) {
  for (Provider* provider : providers_) RELAY_CO_CHECK(co_await provider->prepare(caller));
  co_return Result<void>{};
}

io::Task<Listing<protocol::Tool>> GuardedBackend::list_tools(const authority::Caller& caller) {
  RELAY_CO_CHECK(co_await prepare(caller));
  std::vector<protocol::Tool> tools;
  for (const Provider* provider : providers_) provider->append_tools(caller, tools);
  if (!settings_.empty())
    std::erase_if(tools, [&](const protocol::Tool& tool) { return !is_offered(tool.name); });
  co_return listing_of(std::move(tools));
}

io::Task<Listing<protocol::Resource>> GuardedBackend::list_resources(const authority::Caller& caller) {
  RELAY_CO_CHECK(co_await prepare(caller));
  std::vector<protocol::Resource> resources;
  for (const Provider* provider : providers_) provider->append_resources(caller, resources);
  for (Provider* provider : providers_) RELAY_CO_CHECK(co_await provider->append_changing(caller, resources));
  co_return listing_of(std::move(resources));
}

io::Task<Listing<protocol::ResourceTemplate>> GuardedBackend::list_templates(
    const authority::Caller& caller) {
  RELAY_CO_CHECK(co_await prepare(caller));
  std::vector<protocol::ResourceTemplate> templates;
  for (const Provider* provider : providers_) provider->append_templates(caller, templates);
  co_return listing_of(std::move(templates));
}

io::Task<Listing<protocol::Prompt>> GuardedBackend::list_prompts(const authority::Caller& caller) {
  RELAY_CO_CHECK(co_await prepare(caller));
  std::vector<protocol::Prompt> prompts;
  for (const Provider* provider : providers_) provider->append_prompts(caller, prompts);
  co_return listing_of(std::move(prompts));
}

bool GuardedBackend::is_offered(std::string_view name) const {
  const auto found = settings_.find(name);
  return found == settings_.end() || found->second.offered == Offered::yes;
}

std::size_t GuardedBackend::budget_of(const GuardedTool& tool) const {
  const auto found = settings_.find(tool.tool.name);
  return found == settings_.end() ? tool.budget_bytes
                                  : found->second.result_bytes.value_or(tool.budget_bytes);
}

std::shared_ptr<const Provider::Entry> GuardedBackend::find_entry(const authority::Caller& caller,
                                                                  std::string_view name) const {
  if (!is_offered(name)) return nullptr;
  for (const Provider* provider : providers_)
    if (auto entry = provider->find(caller, name)) return entry;
  return nullptr;
}

std::shared_ptr<const serving::FoundTool> GuardedBackend::find_tool(const authority::Caller& caller,
                                                                    std::string_view name) {
  return find_entry(caller, name);
}

Call GuardedBackend::make_call(const authority::Caller& caller, std::string toolset, std::string tool,
                               authority::Arguments args) {
  Call call;
  call.request_id = ids_.make("req_");
  call.caller = caller;
  call.toolset = std::move(toolset);
  call.tool = std::move(tool);
  call.args = std::move(args);
  return call;
}

// A name that no provider has at hand may be a new tool of an upstream server: they look again.
io::Task<ToolResult> GuardedBackend::call_tool(serving::Context& context, std::string name,
                                               std::shared_ptr<const serving::FoundTool> found,
                                               authority::Arguments arguments) {
  auto entry = std::static_pointer_cast<const Provider::Entry>(std::move(found));
  if (!entry) entry = find_entry(context.caller(), name);
  if (!entry) {
    RELAY_CO_CHECK(co_await prepare(context.caller()));
    entry = find_entry(context.caller(), name);
  }
  if (!entry) co_return fail(serving::unknown_tool(name));
  co_return co_await run_tool(context, std::move(entry), std::move(arguments), {});
}

io::Task<ToolResult> GuardedBackend::call_inner(serving::Context& context, std::string run,
                                                std::shared_ptr<const Provider::Entry> entry,
                                                authority::Arguments arguments) {
  if (!is_offered(entry->guarded.tool.name))
    co_return fail(
        not_found(fmt::format("the tool {0} is switched off (tools.{0}.enabled)", entry->guarded.tool.name)));
  co_return co_await run_tool(context, std::move(entry), std::move(arguments), std::move(run));
}

io::Task<ToolResult> GuardedBackend::run_tool(serving::Context& context,
                                              std::shared_ptr<const Provider::Entry> entry,
                                              authority::Arguments arguments, std::string parent) {
  Call call = make_call(context.caller(), entry->toolset, entry->guarded.tool.name, std::move(arguments));
  const std::size_t budget = parent.empty() ? budget_of(entry->guarded) : entry->guarded.budget_bytes;
  call.parent = std::move(parent);
  call.upstream = entry->upstream;
  call.tier = entry->guarded.tier;
  ElicitingConfirmer confirmer(context);
  const auto& output_schema = entry->guarded.tool.output_schema;
  Conditions conditions{confirmer, budget, problems_of(*entry, call),
                        output_schema ? &*output_schema : nullptr};
  if (conditions.invalid.empty()) judge(call, entry->guarded);
  Work<ToolResult> work = [&](const Recorded& recorded) -> io::Task<ToolResult> {
    co_return check_output(*entry, co_await entry->guarded.handler(context, recorded));
  };
  co_return co_await pipeline_.run<ToolResult>(std::move(call), std::move(conditions), std::move(work));
}

io::Task<std::optional<FoundResource>> GuardedBackend::find_resource(const authority::Caller& caller,
                                                                     std::string_view uri) {
  std::optional<FoundResource> found;
  for (const bool again : {false, true}) {
    if (again && !found) RELAY_CO_CHECK(co_await prepare(caller));
    for (const Provider* provider : providers_)
      if (!found) found = provider->find_resource(caller, uri);
  }
  co_return found;
}

io::Task<ReadResult> GuardedBackend::read_resource(serving::Context& context, std::string uri) {
  RELAY_CO_TRY(const std::optional<FoundResource> found, co_await find_resource(context.caller(), uri));
  if (!found) co_return fail(not_found(fmt::format("there is no resource {}", uri.substr(0, 200))));
  Call call = make_call(context.caller(), "resource", "resource:" + found->name, json::object{{"uri", uri}});
  describe_resource(call, *found, uri);
  NobodyToAsk nobody;
  Conditions conditions{nobody, kResourceBudgetBytes, {}};
  Work<ReadResult> work = [&](const Recorded& recorded) { return found->read(context, recorded); };
  co_return co_await pipeline_.run<ReadResult>(std::move(call), std::move(conditions), std::move(work));
}

io::Task<PromptResult> GuardedBackend::get_prompt(serving::Context& context, std::string name,
                                                  authority::Arguments arguments) {
  std::shared_ptr<const GuardedPrompt> found;
  for (const bool again : {false, true}) {
    if (again && !found) RELAY_CO_CHECK(co_await prepare(context.caller()));
    for (const Provider* provider : providers_)
      if (!found) found = provider->find_prompt(context.caller(), name);
  }
  if (!found) co_return fail(not_found(fmt::format("there is no prompt {}", name.substr(0, 200))));
  Call call = make_call(context.caller(), "prompt", "prompt:" + name, std::move(arguments));
  call.upstream = found->upstream;
  call.tier = Tier::read_only;
  call.policy_text = json::write(call.args.object());
  call.fields = fields_by_name(call.args.object());
  NobodyToAsk nobody;
  Conditions conditions{nobody, limits::kResultBytes, {}};
  Work<PromptResult> work = [&](const Recorded& recorded) { return found->handler(context, recorded); };
  co_return co_await pipeline_.run<PromptResult>(std::move(call), std::move(conditions), std::move(work));
}

// What a user types ahead is neither recorded nor judged: it names a prompt, and calls nothing.
io::Task<protocol::Completion> GuardedBackend::complete(serving::Context& context,
                                                        protocol::CompletionRequest request) {
  for (const bool again : {false, true}) {
    if (again) RELAY_CO_CHECK(co_await prepare(context.caller()));
    for (Provider* provider : providers_) {
      RELAY_CO_TRY(auto completion, co_await provider->complete(context, request));
      if (completion) co_return *std::move(completion);
    }
  }
  co_return protocol::Completion{};
}

protocol::Caching GuardedBackend::caching_of(std::string_view uri) const {
  for (const Provider* provider : providers_)
    if (const auto caching = provider->caching_of(uri)) return *caching;
  return {};
}

// Watching is reading, again and again: it takes the same permission and leaves the same trace.
io::Task<void> GuardedBackend::watch(const authority::Caller& caller, std::string uri) {
  RELAY_CO_TRY(const std::optional<FoundResource> found, co_await find_resource(caller, uri));
  if (!found) co_return fail(not_found(fmt::format("there is no resource {}", uri.substr(0, 200))));
  Call call = make_call(caller, "resource", "resource:" + found->name,
                        json::object{{"uri", uri}, {"subscribe", true}});
  describe_resource(call, *found, uri);
  NobodyToAsk nobody;
  Conditions conditions{nobody, kResourceBudgetBytes, {}};
  Work<ReadResult> work = [&](const Recorded& recorded) -> io::Task<ReadResult> {
    for (Provider* provider : providers_) {
      RELAY_CO_TRY(const bool taken, co_await provider->watch(recorded, uri));
      if (taken) break;
    }
    co_return ReadResult{};
  };
  const auto done =
      co_await pipeline_.run<ReadResult>(std::move(call), std::move(conditions), std::move(work));
  if (!done) co_return fail(done.error());
  co_return Result<void>{};
}

std::string GuardedBackend::view_of(const authority::Caller& caller, std::string_view uri) const {
  for (const Provider* provider : providers_)
    if (auto view = provider->find_view(caller, uri)) return *std::move(view);
  return {};
}

void GuardedBackend::unwatch(const authority::Caller& caller, std::string_view uri) {
  for (Provider* provider : providers_) provider->unwatch(caller, uri);
}

void GuardedBackend::session_ended(const authority::Caller& caller) {
  for (Provider* provider : providers_) provider->session_ended(caller);
}

void GuardedBackend::want_log_level(protocol::LogLevel level) {
  for (Provider* provider : providers_) provider->want_log_level(level);
}

}  // namespace relay::pipeline
