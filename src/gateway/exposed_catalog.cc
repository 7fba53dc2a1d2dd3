#include "gateway/exposed_catalog.h"

#include <algorithm>

#include <fmt/format.h>

#include "gateway/guarded_upstream.h"
#include "gateway/names.h"
#include "pipeline/bound.h"
#include "protocol/uri_template.h"

namespace relay::gateway {
namespace {

template <class T>
std::vector<std::string> exposed_names(const std::string& server, const std::vector<T>& items,
                                       bool prefixed) {
  std::vector<std::string> originals;
  originals.reserve(items.size());
  for (const T& item : items) originals.push_back(item.name);
  return prefixed ? expose_names(server, originals) : originals;
}

OnResult claim_links(const std::shared_ptr<Links>& links, const std::string& server) {
  return [links, server](protocol::JsonText result) { return links->claim(server, std::move(result)); };
}

}  // namespace

std::shared_ptr<const ExposedCatalog> ExposedCatalog::build(const std::vector<ServerPtr>& servers,
                                                            Prefix prefix, std::shared_ptr<Links> links) {
  auto shelf = std::make_shared<ExposedCatalog>();
  const bool prefixed = prefix == Prefix::always || servers.size() != 1;
  for (const ServerPtr& server : servers) {
    const std::shared_ptr<const upstream::Offer> offer = server->known_offer();
    if (!offer) continue;
    shelf->add_tools(server, *offer, prefixed, links);
    shelf->add_prompts(server, *offer, prefixed, links);
    shelf->add_resources(server, *offer);
    shelf->add_templates(server, *offer);
  }
  links->set_listed(shelf->listed_uris());
  return shelf;
}

void ExposedCatalog::add_tools(const ServerPtr& server, const upstream::Offer& offer, bool prefixed,
                               const std::shared_ptr<Links>& links) {
  const OnResult claim = claim_links(links, server->spec().name);
  const auto names = exposed_names(server->spec().name, *offer.tools.items, prefixed);
  const std::size_t configured = server->spec().result_bytes;
  const std::size_t budget = configured == 0 ? pipeline::kNoBudget : configured;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto entry = guard_tool(server, (*offer.tools.items)[i], names[i], budget, claim);
    if (tool_by_name_.contains(names[i])) {
      collisions.push_back(fmt::format("{}: the tool {} is listed twice; the second is left out",
                                       server->spec().name, names[i]));
      continue;
    }
    tools.push_back(entry->guarded.tool);
    tool_by_name_.emplace(names[i], std::move(entry));
  }
}

void ExposedCatalog::add_prompts(const ServerPtr& server, const upstream::Offer& offer, bool prefixed,
                                 const std::shared_ptr<Links>& links) {
  const auto names = exposed_names(server->spec().name, *offer.prompts.items, prefixed);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const protocol::Prompt& prompt = (*offer.prompts.items)[i];
    auto guarded = guard_prompt(server, prompt, names[i], claim_links(links, server->spec().name));
    if (prompt_by_name_.contains(names[i])) {
      collisions.push_back(fmt::format("{}: the prompt {} is listed twice; the second is left out",
                                       server->spec().name, names[i]));
      continue;
    }
    prompts.push_back(guarded->prompt);
    prompt_by_name_.emplace(names[i], PromptEntry{std::move(guarded), {server, prompt.name}});
  }
}

void ExposedCatalog::add_resources(const ServerPtr& server, const upstream::Offer& offer) {
  const std::string& name = server->spec().name;
  for (protocol::Resource resource : *offer.resources.items) {
    const std::string original = resource.uri;
    if (const auto found = resource_by_uri_.find(original);
        found != resource_by_uri_.end() && found->second.server != server) {
      resource.uri = moved_uri(name, original);
      moved_.emplace(std::pair(name, original), resource.uri);
      collisions.push_back(fmt::format("{}: the resource {} is also {}'s; it is served as {}", name, original,
                                       found->second.server->spec().name, resource.uri));
    }
    if (resource_by_uri_.emplace(resource.uri, Route{server, original}).second)
      resources.push_back(std::move(resource));
  }
}

void ExposedCatalog::add_templates(const ServerPtr& server, const upstream::Offer& offer) {
  const std::string& name = server->spec().name;
  for (protocol::ResourceTemplate item : *offer.templates.items) {
    const std::string original = item.uri_template;
    if (template_by_uri_.contains(original)) {
      item.uri_template = moved_uri(name, original);
      collisions.push_back(fmt::format("{}: the template {} is there twice; it is served as {}", name,
                                       original, item.uri_template));
    }
    if (template_by_uri_.emplace(item.uri_template, Route{server, original}).second)
      templates.push_back(std::move(item));
  }
}

std::map<std::string, std::string, std::less<>> ExposedCatalog::listed_uris() const {
  std::map<std::string, std::string, std::less<>> server_by_uri;
  for (const auto& [uri, route] : resource_by_uri_) server_by_uri.emplace(uri, route.server->spec().name);
  return server_by_uri;
}

std::shared_ptr<const pipeline::Provider::Entry> ExposedCatalog::find_tool(std::string_view name) const {
  const auto found = tool_by_name_.find(name);
  return found == tool_by_name_.end() ? nullptr : found->second;
}

std::shared_ptr<const pipeline::GuardedPrompt> ExposedCatalog::find_prompt(std::string_view name) const {
  const auto found = prompt_by_name_.find(name);
  return found == prompt_by_name_.end() ? nullptr : found->second.guarded;
}

std::optional<ExposedCatalog::Route> ExposedCatalog::find_prompt_route(std::string_view name) const {
  const auto found = prompt_by_name_.find(name);
  if (found == prompt_by_name_.end()) return std::nullopt;
  return found->second.route;
}

std::optional<ExposedCatalog::Route> ExposedCatalog::find_resource(std::string_view uri) const {
  if (const auto found = resource_by_uri_.find(uri); found != resource_by_uri_.end()) return found->second;
  for (const auto& [exposed, route] : template_by_uri_) {
    if (!protocol::find_variables(exposed, uri)) continue;
    const bool moved = exposed != route.original;
    const std::size_t prefix = moved ? exposed.size() - route.original.size() : 0;
    return Route{route.server, std::string(uri.substr(prefix))};
  }
  return std::nullopt;
}

std::optional<ExposedCatalog::Route> ExposedCatalog::find_template(std::string_view uri_template) const {
  const auto found = template_by_uri_.find(uri_template);
  if (found == template_by_uri_.end()) return std::nullopt;
  return found->second;
}

std::string ExposedCatalog::exposed_uri(std::string_view server, std::string_view uri) const {
  const auto found = moved_.find(std::pair<std::string, std::string>(server, uri));
  return found == moved_.end() ? std::string(uri) : found->second;
}

}  // namespace relay::gateway
