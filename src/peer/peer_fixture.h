// For tests: an exchange and an observer that remember what they were told, and servers to talk to.
#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/test_loop.h"
#include "peer/peer.h"

namespace relay::peer {

class RecordingExchange final : public RequestScope {
 public:
  explicit RecordingExchange(std::string session = "alice") : session_(std::move(session)) {
    capabilities.roots = capabilities.sampling = capabilities.sampling_tools = true;
    capabilities.elicitation_form = capabilities.elicitation_url = true;
  }
  [[nodiscard]] std::string_view session() const override { return session_; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return capabilities; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return level; }
  void progress(double value, std::optional<double>, std::string_view) override {
    progressed.push_back(value);
  }
  void log(protocol::LogLevel, std::string_view, json::value data) override {
    logged.push_back(json::write(data));
  }
  [[nodiscard]] bool asks_in_rounds() const override { return in_rounds; }
  io::Task<std::vector<protocol::JsonText>> ask(std::vector<Question> questions) override {
    ++rounds;
    std::vector<protocol::JsonText> answers;
    for (const Question& question : questions) {
      asked.push_back(question.method + " " + std::string(question.params.text()));
      if (on_ask) RELAY_CO_CHECK(co_await on_ask(question));
      answers.push_back(protocol::JsonText::trusted(answer_to(question)));
    }
    co_return answers;
  }
  void became_task() override { ++tasks; }

  protocol::ClientCapabilities capabilities;
  std::optional<protocol::LogLevel> level;
  std::vector<double> progressed;
  std::vector<std::string> logged;
  std::vector<std::string> asked;
  int tasks = 0;
  bool in_rounds = false;
  int rounds = 0;
  std::function<io::Task<void>(const Question&)> on_ask;

 private:
  static std::string answer_to(const Question& question) {
    if (question.method == "roots/list") return R"({"roots":[{"uri":"file:///project","name":"project"}]})";
    if (question.method == "sampling/createMessage")
      return R"({"role":"assistant","model":"m","content":{"type":"text","text":"sampled"},"stopReason":"endTurn"})";
    return R"({"action":"accept","content":{"username":"ann","email":"ann@example.com","name":"Ann","color":"blue","ok":true}})";
  }
  std::string session_;
};

class RecordingObserver final : public PeerObserver {
 public:
  void server_event(const protocol::ServerEvent& event) override {
    if (const auto* change = std::get_if<protocol::ListChanged>(&event)) changed.push_back(change->list);
    if (const auto* update = std::get_if<protocol::ResourceUpdated>(&event)) updated.push_back(update->uri);
    if (const auto* line = std::get_if<protocol::LogLine>(&event)) logged.push_back(json::write(line->data));
  }
  void oddity(std::string_view text) override { oddities.emplace_back(text); }
  void closed(const Error& why) override { closings.push_back(why.message); }

  std::vector<ListKind> changed;
  std::vector<std::string> updated, logged, oddities, closings;
};

inline PeerOptions test_options(EraChoice era = EraChoice::probe) {
  PeerOptions options;
  options.self.name = "relay-test";
  options.self.version = "1";
  options.era = era;
  return options;
}

inline Outgoing call_tool(std::string_view name, std::string_view arguments = "{}") {
  Outgoing outgoing;
  outgoing.method = "tools/call";
  outgoing.params = R"({"name":")" + std::string(name) + R"(","arguments":)" + std::string(arguments) + "}";
  return outgoing;
}

/// Waits until something has happened; gives up after a long time.
inline io::Task<void> eventually(std::function<bool()> happened) {
  for (int i = 0; i < 3000; ++i) {
    if (happened()) co_return Result<void>{};
    RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(10)));
  }
  co_return fail(timed_out("it never happened"));
}

/// Programs that are built beside the tests.
inline std::string built_program(std::string_view name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

inline std::string text_of(const Result<PeerAnswer>& answer) {
  if (!answer) return "failed: " + answer.error().message;
  if (!*answer) return "error: " + answer->error().message;
  const json::value& result = (*answer)->value();
  const json::object* members = result.if_object();
  const json::array* content = members ? json::find_array(*members, "content") : nullptr;
  if (!content || content->empty()) return std::string((*answer)->text());
  return std::string(json::find_string(content->front().as_object(), "text").value_or(""));
}

}  // namespace relay::peer
