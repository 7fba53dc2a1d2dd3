// InnerContext: the context of a tool call that guest code makes. Its request is the inner one; its user is
// the run's, who is asked what an upstream asks. Progress belongs to the run alone; logs go where the run's
// go.
//
// BareContext: for runs that nobody can be asked about, such as those of the command line.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mcp/context.h"

namespace relay::codemode {

class InnerContext final : public mcp::Context {
 public:
  /// Holds the outer context while it lives.
  InnerContext(mcp::Context& outer, protocol::Request request)
      : outer_(outer), hold_(outer.hold()), request_(std::move(request)) {}

  [[nodiscard]] const authority::Caller& caller() const override { return outer_.caller(); }
  [[nodiscard]] const protocol::Request& request() const override { return request_; }
  [[nodiscard]] protocol::Revision revision() const override { return outer_.revision(); }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return outer_.client(); }
  [[nodiscard]] io::Loop executor() const override { return outer_.executor(); }
  [[nodiscard]] io::CancelSource cancellation() const override { return cancel_; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return outer_.log_level(); }
  void progress(double, std::optional<double>, std::string_view) override {}
  void log(protocol::LogLevel level, std::string_view logger, json::value data) override {
    outer_.log(level, logger, std::move(data));
  }
  io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) override;
  void become_task() override {}
  void close_stream() override {}

 private:
  mcp::Context& outer_;
  std::shared_ptr<void> hold_;
  protocol::Request request_;
  io::CancelSource cancel_;
};

class BareContext final : public mcp::Context, public std::enable_shared_from_this<BareContext> {
 public:
  BareContext(authority::Caller caller, io::Loop executor)
      : caller_(std::move(caller)), executor_(std::move(executor)) {}

  [[nodiscard]] const authority::Caller& caller() const override { return caller_; }
  [[nodiscard]] const protocol::Request& request() const override { return request_; }
  [[nodiscard]] protocol::Revision revision() const override { return protocol::kLatestLegacy; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return client_; }
  [[nodiscard]] io::Loop executor() const override { return executor_; }
  [[nodiscard]] io::CancelSource cancellation() const override { return cancel_; }
  [[nodiscard]] std::shared_ptr<void> hold() override { return weak_from_this().lock(); }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return {}; }
  void progress(double, std::optional<double>, std::string_view) override {}
  void log(protocol::LogLevel, std::string_view, json::value) override {}
  io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) override;
  void become_task() override {}
  void close_stream() override {}

 private:
  authority::Caller caller_;
  io::Loop executor_;
  protocol::Request request_;
  protocol::ClientCapabilities client_;
  io::CancelSource cancel_;
};

}  // namespace relay::codemode
