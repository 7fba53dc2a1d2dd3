// A Server with a Catalogue, a loop that is run by hand, and replies that remember what was sent. For tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "base/clock.h"
#include "mcp/catalogue.h"
#include "mcp/legacy_dispatcher.h"
#include "mcp/modern_dispatcher.h"
#include "mcp/parked_calls.h"
#include "mcp/server.h"
#include "mcp/session_store.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"

namespace relay::mcp {

class RecordingReply final : public Reply {
 public:
  std::vector<json::value> sent;
  std::optional<json::value> answer;
  int status = 0;

 protected:
  void write(std::string message) override { sent.push_back(*json::parse(message)); }
  void end(FinalMessage given) override {
    status = given.http_status;
    answer = given.text.empty() ? json::value() : *json::parse(given.text);
  }
};

class ServerTest : public testing::Test {
 public:
  ~ServerTest() override {
    server_.stop();
    poll();
  }

 protected:
  ServerTest() {
    add("echo", R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]})",
        [](serving::Context&, authority::Arguments arguments) -> io::Task<protocol::ToolResult> {
          co_return protocol::ToolResult::text(
              std::string(*json::find_string(arguments.object(), "message")));
        });
  }

  void add(std::string name, std::string schema, CatalogueToolHandler handler,
           protocol::TaskSupport tasks = protocol::TaskSupport::forbidden) {
    protocol::Tool tool;
    tool.name = std::move(name);
    tool.input_schema = protocol::JsonText::trusted(std::move(schema));
    tool.task_support = tasks;
    ASSERT_TRUE(catalogue_.add_tool(std::move(tool), std::move(handler)));
  }
  /// Runs what is ready; never waits.
  void poll() {
    loop_.restart();
    loop_.poll();
  }
  static protocol::Request request(std::string id, std::string method, std::string params) {
    return std::get<protocol::Request>(*protocol::parse_message(
        R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}"));
  }
  static std::string modern_params(std::string members, std::string capabilities = "{}") {
    return "{" + members + (members.empty() ? "" : ",") +
           R"("_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)" +
           capabilities + "}}";
  }
  std::shared_ptr<RecordingReply> send_modern(std::string method, std::string params,
                                              std::string principal = "alice") {
    auto reply = std::make_shared<RecordingReply>();
    authority::Caller caller{.principal = std::move(principal)};
    modern_.handle(std::move(caller), request("1", std::move(method), std::move(params)), reply, nullptr);
    poll();
    return reply;
  }
  std::shared_ptr<Session> open_session(std::string capabilities = "{}", std::string principal = "alice") {
    unsolicited_ = std::make_shared<RecordingReply>();
    auto session = std::make_shared<Session>(
        loop_.get_executor(), authority::Caller{.principal = std::move(principal)}, unsolicited_);
    session->on_end = [this](Session& ended) { release(server_, ended); };
    EXPECT_TRUE(legacy_.initialize(
        *session,
        request("0", "initialize",
                R"({"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":)" +
                    capabilities + "}")));
    EXPECT_TRUE(server_.sessions().add(session));
    session->initialized = true;
    return session;
  }
  std::shared_ptr<RecordingReply> send_legacy(const std::shared_ptr<Session>& session, std::string id,
                                              std::string method, std::string params) {
    auto reply = std::make_shared<RecordingReply>();
    legacy_.handle(session, request(std::move(id), std::move(method), std::move(params)), reply);
    poll();
    return reply;
  }
  static int error_code(const RecordingReply& reply) {
    return reply.answer ? static_cast<int>(reply.answer->at("error").at("code").as_int64()) : 0;
  }
  static std::string text_of(const RecordingReply& reply) {
    return std::string(json::view(reply.answer->at("result").at("content").at(0).at("text").as_string()));
  }
  static serving::Identity identity() {
    serving::Identity identity;
    identity.info.name = "test";
    identity.info.version = "1";
    identity.capabilities.resources = identity.capabilities.resource_subscriptions = true;
    identity.capabilities.tasks = true;
    return identity;
  }

  io::asio::io_context loop_;
  FakeClock clock_;
  SystemRandom random_;
  Catalogue catalogue_{identity()};
  Server server_{loop_.get_executor(), catalogue_, clock_, random_, {}};
  LegacyDispatcher legacy_{server_};
  ModernDispatcher modern_{server_};
  std::shared_ptr<RecordingReply> unsolicited_;
};

}  // namespace relay::mcp
