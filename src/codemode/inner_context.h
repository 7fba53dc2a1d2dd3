// InnerContext: the context of a tool call that guest code makes. Its user is the run's, who is asked what an
// upstream asks. Progress belongs to the run alone; logs go where the run's go; of `_meta` it has the traces.
//
// BareContext: for runs that nobody can be asked about, such as those of the command line.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "serving/context.h"

namespace relay::codemode {

class InnerContext final : public serving::Context {
 public:
  /// Holds the outer context while it lives.
  explicit InnerContext(serving::Context& outer);

  [[nodiscard]] const authority::Caller& caller() const override { return outer_.caller(); }
  [[nodiscard]] protocol::Revision revision() const override { return outer_.revision(); }
  [[nodiscard]] const json::object& meta() const override { return meta_; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return outer_.client(); }
  io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) override;
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return outer_.log_level(); }
  void log(protocol::LogLevel level, std::string_view logger, json::value data) override {
    outer_.log(level, logger, std::move(data));
  }

 private:
  serving::Context& outer_;
  std::shared_ptr<void> hold_;
  json::object meta_;
};

class BareContext final : public serving::Context, public std::enable_shared_from_this<BareContext> {
 public:
  explicit BareContext(authority::Caller caller) : caller_(std::move(caller)) {}

  [[nodiscard]] const authority::Caller& caller() const override { return caller_; }
  [[nodiscard]] protocol::Revision revision() const override { return protocol::kLatestLegacy; }
  [[nodiscard]] std::shared_ptr<void> hold() override { return weak_from_this().lock(); }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return client_; }
  io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) override;

 private:
  authority::Caller caller_;
  protocol::ClientCapabilities client_;
};

}  // namespace relay::codemode
