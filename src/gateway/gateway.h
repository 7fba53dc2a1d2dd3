// Gateway: the upstream servers that are exposed as tools, served as if they were ours. Everything goes
// through the pipeline like our own; what a server asks, reports or logs in mid-call reaches the client that
// called, whichever era each of them speaks.
//
// A server that is dead, slow or misconfigured costs its own tools: lists wait for it a limited time and then
// go on without it, with what it last offered if that is known. What an earlier relay saw is listed at once,
// and the server starts with its first call.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gateway/exposed_catalog.h"
#include "pipeline/guarded_backend.h"
#include "upstream/fleet.h"

namespace relay::gateway {

struct GatewayOptions {
  Prefix prefix = Prefix::always;
  std::chrono::milliseconds list_timeout = std::chrono::seconds(10);
};

class Gateway final : public pipeline::Provider {
 public:
  /// Both must outlive it.
  Gateway(io::Loop executor, upstream::Fleet& fleet, pipeline::GuardedBackend& backend,
          GatewayOptions options);
  ~Gateway() override;
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  /// For server_info: each server with its state, since when, why.
  [[nodiscard]] json::value status() const;

  // Provider
  io::Task<void> prepare(const authority::Caller& caller) override;
  void append_tools(const authority::Caller& caller, std::vector<protocol::Tool>& out) const override;
  [[nodiscard]] std::shared_ptr<const Entry> find(const authority::Caller& caller,
                                                  std::string_view name) const override;
  void append_resources(const authority::Caller& caller, std::vector<protocol::Resource>& out) const override;
  void append_templates(const authority::Caller& caller,
                        std::vector<protocol::ResourceTemplate>& out) const override;
  [[nodiscard]] std::optional<pipeline::FoundResource> find_resource(const authority::Caller& caller,
                                                                     std::string_view uri) const override;
  io::Task<bool> watch(const authority::Recorded& recorded, std::string uri) override;
  void unwatch(const authority::Caller& caller, std::string_view uri) override;
  void append_prompts(const authority::Caller& caller, std::vector<protocol::Prompt>& out) const override;
  [[nodiscard]] std::shared_ptr<const pipeline::GuardedPrompt> find_prompt(
      const authority::Caller& caller, std::string_view name) const override;
  io::Task<std::optional<protocol::Completion>> complete(serving::Context& context,
                                                         const protocol::CompletionRequest& request) override;
  void want_log_level(protocol::LogLevel level) override;

 private:
  void take_event(std::string_view server, const protocol::ServerEvent& event);
  [[nodiscard]] std::vector<ExposedCatalog::ServerPtr> exposed() const;
  [[nodiscard]] std::shared_ptr<const ExposedCatalog> shelf() const;
  /// Where a URI leads that a client asks for: what was listed, a template, a link that one of the servers
  /// gave out, the only server there is.
  [[nodiscard]] std::optional<ExposedCatalog::Route> route_of(std::string_view uri) const;

  io::Loop executor_;
  upstream::Fleet& fleet_;
  pipeline::GuardedBackend& backend_;
  GatewayOptions options_;
  std::shared_ptr<Links> links_ = std::make_shared<Links>();
  mutable std::shared_ptr<const ExposedCatalog> shelf_;  // null: to be built
  std::unordered_map<std::string, ExposedCatalog::Route> watched_;
  std::shared_ptr<const upstream::FleetSink> subscription_;  // last: it goes first
};

}  // namespace relay::gateway
