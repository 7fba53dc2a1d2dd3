// LiveToolset: a toolset whose offer is replaced or switched off while calls run. To the backend it is one
// provider, which stays where it was added. Calls that found their tool before a change end as they began.
//
// An offer that was replaced is kept: it may still watch files for clients, and must hear when they stop
// watching. Loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/toolsets.h"

namespace relay::world {

class LiveToolset final : public pipeline::Provider {
 public:
  LiveToolset(std::string name, tools::Providers offer) : name_(std::move(name)) {
    set_offer(std::move(offer));
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_offered() const { return offer_ != nullptr; }
  /// From now on this is what clients see.
  void set_offer(tools::Providers offer);
  /// Clients see nothing of it until there is another offer.
  void switch_off() { offer_.reset(); }

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
  [[nodiscard]] std::optional<protocol::Caching> caching_of(std::string_view uri) const override;
  io::Task<bool> watch(const authority::Recorded& recorded, std::string uri) override;
  void unwatch(const authority::Caller& caller, std::string_view uri) override;
  [[nodiscard]] std::optional<std::string> find_view(const authority::Caller& caller,
                                                     std::string_view uri) const override;
  io::Task<void> append_changing(const authority::Caller& caller,
                                 std::vector<protocol::Resource>& out) override;
  void session_ended(const authority::Caller& caller) override;
  void append_prompts(const authority::Caller& caller, std::vector<protocol::Prompt>& out) const override;
  [[nodiscard]] std::shared_ptr<const pipeline::GuardedPrompt> find_prompt(
      const authority::Caller& caller, std::string_view name) const override;
  io::Task<std::optional<protocol::Completion>> complete(serving::Context& context,
                                                         const protocol::CompletionRequest& request) override;
  void want_log_level(protocol::LogLevel level) override;

 private:
  using Offer = std::shared_ptr<const tools::Providers>;
  [[nodiscard]] const tools::Providers& offered() const;
  /// The first provider's answer that is one.
  template <class Ask>
  auto first_answer(Ask ask) const;

  std::string name_;
  Offer offer_;                // null while it is switched off
  std::vector<Offer> offers_;  // all there were
};

}  // namespace relay::world
