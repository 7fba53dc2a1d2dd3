#include "gateway/gateway.h"

#include <algorithm>

#include <fmt/format.h>

#include "gateway/context_exchange.h"
#include "gateway/guarded_upstream.h"
#include "gateway/status.h"
#include "io/spawn.h"
#include "protocol/json_writer.h"

namespace relay::gateway {
namespace {

using peer::ListKind;

std::string completion_params(const protocol::CompletionRequest& request, std::string_view original) {
  const bool is_prompt = request.kind == protocol::CompletionRequest::Kind::prompt;
  json::object ref{{"type", is_prompt ? "ref/prompt" : "ref/resource"},
                   {is_prompt ? "name" : "uri", original}};
  json::object params{{"ref", std::move(ref)},
                      {"argument", {{"name", request.argument}, {"value", request.value}}}};
  if (!request.context.empty()) params["context"] = {{"arguments", request.context}};
  return json::write(params);
}

protocol::Completion read_completion(const protocol::JsonText& result) {
  protocol::Completion completion;
  const json::object* members = result.value().if_object();
  const json::object* found = members ? json::find_object(*members, "completion") : nullptr;
  if (!found) return completion;
  if (const json::array* values = json::find_array(*found, "values"))
    for (const json::value& value : *values)
      if (value.is_string()) completion.values.emplace_back(json::view(value.get_string()));
  if (const auto total = json::find_int(*found, "total")) completion.total = *total;
  completion.has_more = json::find_bool(*found, "hasMore").value_or(false);
  return completion;
}

// Waits for an offer and forgets it: what came is kept by the upstream, what failed stands in its status.
io::Task<void> fetch(ExposedCatalog::ServerPtr server, std::shared_ptr<std::size_t> open,
                     std::shared_ptr<io::Event> done) {
  const auto offer = co_await server->offer_at_hand();
  if (--*open == 0) done->set();
  co_return Result<void>{};
}

}  // namespace

Gateway::Gateway(io::Loop executor, upstream::Fleet& fleet, pipeline::GuardedBackend& backend,
                 GatewayOptions options)
    : executor_(std::move(executor)), fleet_(fleet), backend_(backend), options_(options) {
  subscription_ = fleet_.subscribe(
      [this](std::string_view server, const protocol::ServerEvent& event) { take_event(server, event); });
}

Gateway::~Gateway() {}

json::value Gateway::status() const {
  return describe_fleet(fleet_, *shelf());
}

std::vector<ExposedCatalog::ServerPtr> Gateway::exposed() const {
  std::vector<ExposedCatalog::ServerPtr> servers = fleet_.all();
  std::erase_if(servers, [](const ExposedCatalog::ServerPtr& server) {
    return !server->spec().enabled || !server->spec().in_tool_list();
  });
  return servers;
}

std::shared_ptr<const ExposedCatalog> Gateway::shelf() const {
  if (!shelf_) shelf_ = ExposedCatalog::build(exposed(), options_.prefix, links_);
  return shelf_;
}

io::Task<void> Gateway::prepare(const authority::Caller&) {
  const std::vector<ExposedCatalog::ServerPtr> servers = exposed();
  if (servers.empty()) co_return Result<void>{};
  auto open = std::make_shared<std::size_t>(servers.size());
  auto done = std::make_shared<io::Event>(executor_);
  for (const ExposedCatalog::ServerPtr& server : servers)
    io::spawn(executor_, fetch(server, open, done), "upstream offer");
  RELAY_CO_CHECK(co_await done->wait_until(std::chrono::steady_clock::now() + options_.list_timeout));
  co_return Result<void>{};
}

void Gateway::append_tools(const authority::Caller&, std::vector<protocol::Tool>& out) const {
  const auto current = shelf();
  out.insert(out.end(), current->tools.begin(), current->tools.end());
}

std::shared_ptr<const pipeline::Provider::Entry> Gateway::find(const authority::Caller&,
                                                               std::string_view name) const {
  return shelf()->find_tool(name);
}

void Gateway::append_resources(const authority::Caller&, std::vector<protocol::Resource>& out) const {
  const auto current = shelf();
  out.insert(out.end(), current->resources.begin(), current->resources.end());
}

void Gateway::append_templates(const authority::Caller&, std::vector<protocol::ResourceTemplate>& out) const {
  const auto current = shelf();
  out.insert(out.end(), current->templates.begin(), current->templates.end());
}

std::optional<ExposedCatalog::Route> Gateway::route_of(std::string_view uri) const {
  if (auto route = shelf()->find_resource(uri)) return route;
  if (uri.starts_with("relay://")) return std::nullopt;
  for (const ExposedCatalog::ServerPtr& server : exposed()) {
    const std::string prefix = moved_uri(server->spec().name, "");
    if (uri.starts_with(prefix)) return ExposedCatalog::Route{server, std::string(uri.substr(prefix.size()))};
  }
  if (const std::string giver = links_->find(uri); !giver.empty())
    if (ExposedCatalog::ServerPtr server = fleet_.find(giver))
      return ExposedCatalog::Route{std::move(server), std::string(uri)};
  // What nobody listed or linked to can only be meant for the one server there is.
  std::vector<ExposedCatalog::ServerPtr> candidates = exposed();
  std::erase_if(candidates, [](const ExposedCatalog::ServerPtr& server) {
    const auto offer = server->known_offer();
    return !offer || !offer->capabilities.contains("resources");
  });
  if (candidates.size() != 1) return std::nullopt;
  return ExposedCatalog::Route{candidates.front(), std::string(uri)};
}

std::optional<pipeline::FoundResource> Gateway::find_resource(const authority::Caller&,
                                                              std::string_view uri) const {
  auto route = route_of(uri);
  if (!route) return std::nullopt;
  return guard_resource(std::move(route->server), std::move(route->original), uri);
}

io::Task<bool> Gateway::watch(const authority::Recorded& recorded, std::string uri) {
  const auto route = route_of(uri);
  if (!route) co_return false;
  RELAY_CO_CHECK(co_await route->server->watch(recorded, route->original));
  watched_.insert_or_assign(std::move(uri), *route);
  co_return true;
}

void Gateway::unwatch(const authority::Caller&, std::string_view uri) {
  const auto found = watched_.find(std::string(uri));
  if (found == watched_.end()) return;
  found->second.server->unwatch(found->second.original);
  watched_.erase(found);
}

void Gateway::append_prompts(const authority::Caller&, std::vector<protocol::Prompt>& out) const {
  const auto current = shelf();
  out.insert(out.end(), current->prompts.begin(), current->prompts.end());
}

std::shared_ptr<const pipeline::GuardedPrompt> Gateway::find_prompt(const authority::Caller&,
                                                                    std::string_view name) const {
  return shelf()->find_prompt(name);
}

io::Task<std::optional<protocol::Completion>> Gateway::complete(serving::Context& context,
                                                                const protocol::CompletionRequest& request) {
  const bool is_prompt = request.kind == protocol::CompletionRequest::Kind::prompt;
  const auto route =
      is_prompt ? shelf()->find_prompt_route(request.ref) : shelf()->find_template(request.ref);
  if (!route) co_return std::optional<protocol::Completion>();
  const auto permit = authority::Unrecorded::completion(context.caller());
  std::string params = completion_params(request, route->original);
  ContextExchange exchange(context, permit.caller(), route->server->spec().name);
  RELAY_CO_TRY(peer::PeerAnswer answer,
               co_await route->server->complete(permit, std::move(params), exchange));
  if (!answer) co_return fail(protocol::to_error(std::move(answer.error())));
  co_return read_completion(*answer);
}

void Gateway::want_log_level(protocol::LogLevel level) {
  for (const ExposedCatalog::ServerPtr& server : exposed()) server->set_log_level(level);
}

void Gateway::take_event(std::string_view server, const protocol::ServerEvent& event) {
  if (std::holds_alternative<protocol::ListChanged>(event)) shelf_.reset();
  if (const auto* update = std::get_if<protocol::ResourceUpdated>(&event))
    return backend_.tell_clients(protocol::ResourceUpdated{shelf()->exposed_uri(server, update->uri)});
  if (const auto* line = std::get_if<protocol::LogLine>(&event))
    return backend_.tell_clients(
        protocol::LogLine{line->level, logger_name(server, line->logger), line->data});
  backend_.tell_clients(event);
}

}  // namespace relay::gateway
