// FakeUpstream: an upstream server for tests that forces what a real one does rarely. Test-only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "upstream/fleet.h"

namespace relay::gateway {

class FakeUpstream final : public upstream::Upstream {
 public:
  using Handler = std::function<io::Task<peer::PeerAnswer>(peer::Outgoing, peer::RequestScope&)>;

  explicit FakeUpstream(upstream::ServerSpec spec) : spec_(std::move(spec)) {}

  void offer_tools(const std::vector<std::string>& names) {
    std::vector<protocol::Tool> tools;
    for (const std::string& name : names) {
      protocol::Tool tool;
      tool.name = name;
      tool.raw = protocol::JsonText::trusted("{\"name\":" + json::quote(name) +
                                             ",\"inputSchema\":{\"type\":\"object\",\"x\":1.0}}");
      tools.push_back(std::move(tool));
    }
    offer_exactly(std::move(tools));
  }
  void offer_exactly(std::vector<protocol::Tool> tools) {
    change([&](upstream::Offer& offer) {
      offer.tools.items = std::make_shared<const std::vector<protocol::Tool>>(std::move(tools));
    });
  }
  void offer_resources(const std::vector<std::string>& uris) {
    std::vector<protocol::Resource> resources;
    for (const std::string& uri : uris) {
      protocol::Resource resource;
      resource.uri = uri;
      resource.name = uri;
      resources.push_back(std::move(resource));
    }
    change([&](upstream::Offer& offer) {
      offer.capabilities["resources"] = json::object{};
      offer.resources.items = std::make_shared<const std::vector<protocol::Resource>>(std::move(resources));
    });
  }
  void offer_template(std::string uri_template) {
    protocol::ResourceTemplate item;
    item.uri_template = std::move(uri_template);
    change([&](upstream::Offer& offer) {
      offer.capabilities["resources"] = json::object{};
      offer.templates.items =
          std::make_shared<const std::vector<protocol::ResourceTemplate>>(std::vector{std::move(item)});
    });
  }
  void offer_prompt(std::string name) {
    protocol::Prompt prompt;
    prompt.name = std::move(name);
    change([&](upstream::Offer& offer) {
      offer.prompts.items =
          std::make_shared<const std::vector<protocol::Prompt>>(std::vector{std::move(prompt)});
    });
  }

  [[nodiscard]] const upstream::ServerSpec& spec() const override { return spec_; }
  [[nodiscard]] upstream::Status status() const override { return state; }
  io::Task<std::shared_ptr<const upstream::Offer>> offer() override {
    remembered = false;
    if (on_asked) on_asked();
    if (!offer_) co_return fail(unavailable("it does not start"));
    co_return offer_;
  }
  io::Task<std::shared_ptr<const upstream::Offer>> offer_at_hand() override {
    return remembered ? remember() : offer();
  }
  [[nodiscard]] std::shared_ptr<const upstream::Offer> known_offer() const override { return offer_; }
  void unwatch(std::string_view uri) override { std::erase(watched, uri); }
  void set_log_level(protocol::LogLevel level) override { log_level = level; }
  void roots_changed() override {}
  io::Task<void> stop() override { co_return Result<void>{}; }

  Handler handler = [](peer::Outgoing, peer::RequestScope&) -> io::Task<peer::PeerAnswer> {
    co_return peer::PeerAnswer(
        protocol::JsonText::trusted(R"({"content":[{"type":"text","text":"hi"}],"extra":1.50})"));
  };
  std::vector<peer::Outgoing> sent;
  std::vector<std::string> watched;
  std::optional<protocol::LogLevel> log_level;
  upstream::Status state;
  bool remembered = false;  // what it offers is from an earlier run; offer() says what it really has
  std::function<void()> on_asked;

 private:
  io::Task<peer::PeerAnswer> send(peer::Outgoing outgoing, peer::RequestScope& exchange) override {
    sent.push_back(outgoing);
    co_return co_await handler(std::move(outgoing), exchange);
  }
  io::Task<void> start_watch(std::string uri) override {
    watched.push_back(std::move(uri));
    co_return Result<void>{};
  }
  io::Task<std::shared_ptr<const upstream::Offer>> remember() { co_return offer_; }

  template <class Change>
  void change(Change edit) {
    auto next = offer_ ? std::make_shared<upstream::Offer>(*offer_) : std::make_shared<upstream::Offer>();
    edit(*next);
    offer_ = std::move(next);
  }

  upstream::ServerSpec spec_;
  std::shared_ptr<const upstream::Offer> offer_;
};

class FakeFleet final : public upstream::Fleet {
 public:
  std::shared_ptr<FakeUpstream> add(std::string name, upstream::Expose expose = upstream::Expose::tools) {
    upstream::ServerSpec spec;
    spec.name = std::move(name);
    spec.expose = expose;
    servers.push_back(std::make_shared<FakeUpstream>(std::move(spec)));
    return servers.back();
  }

  void apply(std::vector<upstream::ServerSpec>) override {}
  [[nodiscard]] std::vector<std::shared_ptr<upstream::Upstream>> all() const override {
    return {servers.begin(), servers.end()};
  }
  [[nodiscard]] std::shared_ptr<upstream::Upstream> find(std::string_view name) const override {
    for (const auto& server : servers)
      if (server->spec().name == name) return server;
    return nullptr;
  }
  std::shared_ptr<const upstream::FleetSink> subscribe(upstream::FleetSink sink) override {
    auto held = std::make_shared<const upstream::FleetSink>(std::move(sink));
    subscriber = held;
    return held;
  }
  io::Task<void> stop() override { co_return Result<void>{}; }

  std::vector<std::shared_ptr<FakeUpstream>> servers;
  std::weak_ptr<const upstream::FleetSink> subscriber;  // the last one
};

}  // namespace relay::gateway
