// ExposedCatalog: what all exposed upstream servers offer together, under the names and URIs that clients
// see. Built anew from the known offers whenever one changes; immutable, so that a call keeps what it found.
//
// URIs stay as they are. Where two servers list the same one, the first in the configuration keeps it and the
// others get their server's name in front: files+test://x.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/links.h"
#include "pipeline/provider.h"
#include "upstream/upstream.h"

namespace relay::gateway {

enum class Prefix : std::uint8_t { always, none };

class ExposedCatalog {
 public:
  using ServerPtr = std::shared_ptr<upstream::Upstream>;

  /// Where a URI or a template that clients use leads.
  struct Route {
    ServerPtr server;
    std::string original;
  };

  /// Prefix::none is honoured when there is exactly one server.
  static std::shared_ptr<const ExposedCatalog> build(const std::vector<ServerPtr>& servers, Prefix prefix,
                                                     std::shared_ptr<Links> links);

  std::vector<protocol::Tool> tools;
  std::vector<protocol::Resource> resources;
  std::vector<protocol::ResourceTemplate> templates;
  std::vector<protocol::Prompt> prompts;
  std::vector<std::string> collisions;  // sentences for people

  [[nodiscard]] std::shared_ptr<const pipeline::Provider::Entry> find_tool(std::string_view name) const;
  [[nodiscard]] std::shared_ptr<const pipeline::GuardedPrompt> find_prompt(std::string_view name) const;
  [[nodiscard]] std::optional<Route> find_prompt_route(std::string_view name) const;
  /// By the list, then by the templates.
  [[nodiscard]] std::optional<Route> find_resource(std::string_view uri) const;
  [[nodiscard]] std::optional<Route> find_template(std::string_view uri_template) const;
  /// The URI that clients know, for one that a server reports.
  [[nodiscard]] std::string exposed_uri(std::string_view server, std::string_view uri) const;

 private:
  void add_tools(const ServerPtr& server, const upstream::Offer& offer, bool prefixed,
                 const std::shared_ptr<Links>& links);
  void add_prompts(const ServerPtr& server, const upstream::Offer& offer, bool prefixed,
                   const std::shared_ptr<Links>& links);
  void add_resources(const ServerPtr& server, const upstream::Offer& offer);
  void add_templates(const ServerPtr& server, const upstream::Offer& offer);
  [[nodiscard]] std::map<std::string, std::string, std::less<>> listed_uris() const;

  struct PromptEntry {
    std::shared_ptr<const pipeline::GuardedPrompt> guarded;
    Route route;
  };
  std::map<std::string, std::shared_ptr<const pipeline::Provider::Entry>, std::less<>> tool_by_name_;
  std::map<std::string, PromptEntry, std::less<>> prompt_by_name_;
  std::map<std::string, Route, std::less<>> resource_by_uri_;
  std::map<std::string, Route, std::less<>> template_by_uri_;
  std::map<std::pair<std::string, std::string>, std::string, std::less<>>
      moved_;  // (server, uri) -> exposed URI, where they differ
};

}  // namespace relay::gateway
