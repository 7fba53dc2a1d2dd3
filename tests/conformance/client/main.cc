// relay-conformance-client URL: does with a server what the official suite's client scenarios want to see,
// with Relay's own client.
//
// MCP_CONFORMANCE_SCENARIO names the scenario, MCP_CONFORMANCE_PROTOCOL_VERSION the revision,
// MCP_CONFORMANCE_CONTEXT may hold the calls to make. Otherwise every tool that may be called is called, with
// arguments made from its schema.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <boost/asio/io_context.hpp>

#include "io/spawn.h"
#include "peer/peer.h"
#include "protocol/modern_headers.h"

namespace relay {
namespace {

using peer::EraChoice;
using peer::Outgoing;
using peer::Peer;
using peer::PeerAnswer;
using protocol::JsonText;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// What a form gives when the user changes nothing: the defaults.
json::object accept_defaults(const json::value& params) {
  json::object content;
  const json::object* members = params.if_object();
  const json::object* schema = members ? json::find_object(*members, "requestedSchema") : nullptr;
  const json::object* properties = schema ? json::find_object(*schema, "properties") : nullptr;
  for (const auto& property : properties ? *properties : json::object()) {
    const json::object* described = property.value().if_object();
    if (const json::value* given = described ? json::find(*described, "default") : nullptr)
      content[property.key()] = *given;
  }
  return {{"action", "accept"}, {"content", std::move(content)}};
}

/// A user who agrees to everything.
class AgreeableExchange final : public peer::RequestScope {
 public:
  AgreeableExchange() {
    client_.roots = client_.sampling = client_.elicitation_form = client_.elicitation_url = true;
  }
  [[nodiscard]] std::string_view session() const override { return "conformance"; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return client_; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return {}; }
  void progress(double, std::optional<double>, std::string_view) override {}
  void log(protocol::LogLevel, std::string_view, json::value) override {}
  void became_task() override {}
  io::Task<std::vector<JsonText>> ask(std::vector<peer::Question> questions) override {
    std::vector<JsonText> answers;
    for (const peer::Question& question : questions) answers.push_back(answer(question));
    co_return answers;
  }

 private:
  static JsonText answer(const peer::Question& question) {
    if (question.method == "roots/list") return JsonText::trusted(R"({"roots":[]})");
    if (question.method == "sampling/createMessage")
      return JsonText::trusted(
          R"({"role":"assistant","model":"none","content":{"type":"text","text":"agreed"}})");
    return JsonText::from(accept_defaults(question.params.value()));
  }
  protocol::ClientCapabilities client_;
};

class Complaints final : public peer::PeerObserver {
 public:
  void server_event(const protocol::ServerEvent&) override {}
  void oddity(std::string_view text) override {
    std::fprintf(stderr, "odd: %.*s\n", static_cast<int>(text.size()), text.data());
  }
  void closed(const Error& why) override { std::fprintf(stderr, "closed: %s\n", why.message.c_str()); }
};

struct ListedTool {
  std::string name;
  JsonText schema;
};

std::string plain_value(const json::value& schema) {
  const json::object* members = schema.if_object();
  const auto type = members ? json::find_string(*members, "type").value_or("string") : "string";
  if (type == "number" || type == "integer") return "5";
  if (type == "boolean") return "true";
  if (type == "object") return "{}";
  if (type == "array") return "[]";
  return R"("test")";
}

// Every property has a value of its type.
std::string make_arguments(const JsonText& schema) {
  const json::object* members = schema.value().if_object();
  const json::object* properties = members ? json::find_object(*members, "properties") : nullptr;
  std::string out = "{";
  for (const auto& property : properties ? *properties : json::object())
    out += fmt::format("{}{}:{}", out.size() > 1 ? "," : "",
                       json::quote({property.key().data(), property.key().size()}),
                       plain_value(property.value()));
  return out + "}";
}

class Visit {
 public:
  Visit(std::unique_ptr<Peer> peer, std::string scenario)
      : peer_(std::move(peer)), scenario_(std::move(scenario)) {}

  io::Task<void> run() {
    RELAY_CO_TRY(const std::vector<ListedTool> tools, co_await list_tools());
    RELAY_CO_CHECK(co_await call_tools(tools));
    if (scenario_ == "http-standard-headers") RELAY_CO_CHECK(co_await read_all());
    co_return co_await peer_->close();
  }

 private:
  io::Task<std::string> request(std::string method, std::string params, std::optional<JsonText> schema = {}) {
    Outgoing outgoing{.method = method, .params = std::move(params)};
    outgoing.input_schema = std::move(schema);
    RELAY_CO_TRY(const PeerAnswer answer, co_await peer_->request(std::move(outgoing), user_));
    if (!answer) co_return fail(unavailable(fmt::format("{}: {}", method, answer.error().message)));
    co_return std::string(answer->text());
  }

  // Tools whose headers cannot be made are not there for us.
  io::Task<std::vector<ListedTool>> list_tools() {
    RELAY_CO_TRY(const std::string listed, co_await request("tools/list", "{}"));
    std::vector<ListedTool> tools;
    for (const std::string_view text : json::split_array(json::find_text(listed, "tools").value_or("[]"))) {
      RELAY_CO_TRY(const json::value parsed, json::parse(text));
      const auto schema = JsonText::trusted(std::string(json::find_text(text, "inputSchema").value_or("{}")));
      if (!protocol::parse_header_params(schema.value())) continue;
      tools.push_back({std::string(json::find_string(parsed.as_object(), "name").value_or("")), schema});
    }
    co_return tools;
  }

  io::Task<void> call(const ListedTool& tool, std::string arguments) {
    std::string params = fmt::format(R"({{"name":{},"arguments":{}}})", json::quote(tool.name), arguments);
    RELAY_CO_TRY(const std::string result, co_await request("tools/call", std::move(params), tool.schema));
    std::printf("%s: %s\n", tool.name.c_str(), result.c_str());
    co_return Result<void>{};
  }

  io::Task<void> call_tools(const std::vector<ListedTool>& tools) {
    const std::string context = environment("MCP_CONFORMANCE_CONTEXT");
    const auto calls = context.empty() ? std::nullopt : json::find_text(context, "toolCalls");
    if (calls) co_return co_await call_named(tools, *calls);
    for (const ListedTool& tool : tools) {
      std::string arguments = make_arguments(tool.schema);
      // The echo wants to see the other tool's schema again.
      if (scenario_ == "json-schema-2020-12-preservation" && &tool != &tools.front())
        arguments = fmt::format(R"({{"schema":{}}})", tools.front().schema.text());
      RELAY_CO_CHECK(co_await call(tool, std::move(arguments)));
    }
    co_return Result<void>{};
  }

  io::Task<void> call_named(const std::vector<ListedTool>& tools, std::string_view calls) {
    for (const std::string_view wanted : json::split_array(calls)) {
      const auto name = json::find_text(wanted, "name");
      for (const ListedTool& tool : tools)
        if (name == json::quote(tool.name))
          RELAY_CO_CHECK(
              co_await call(tool, std::string(json::find_text(wanted, "arguments").value_or("{}"))));
    }
    co_return Result<void>{};
  }

  // Resources and prompts: the first of each.
  io::Task<void> read_all() {
    RELAY_CO_TRY(const std::string resources, co_await request("resources/list", "{}"));
    for (const std::string_view item :
         json::split_array(json::find_text(resources, "resources").value_or("[]")))
      RELAY_CO_CHECK(co_await request(
          "resources/read", fmt::format(R"({{"uri":{}}})", json::find_text(item, "uri").value_or("\"\""))));
    RELAY_CO_TRY(const std::string prompts, co_await request("prompts/list", "{}"));
    for (const std::string_view item : json::split_array(json::find_text(prompts, "prompts").value_or("[]")))
      RELAY_CO_CHECK(co_await request(
          "prompts/get",
          fmt::format(R"({{"name":{},"arguments":{{}}}})", json::find_text(item, "name").value_or("\"\""))));
    co_return Result<void>{};
  }

  std::unique_ptr<Peer> peer_;
  std::string scenario_;
  AgreeableExchange user_;
};

// The header scenarios' servers answer anything but server/discover.
EraChoice choose_era(std::string_view scenario) {
  const std::string version = environment("MCP_CONFORMANCE_PROTOCOL_VERSION");
  if (!version.empty() && !protocol::names_modern_era(version)) return EraChoice::legacy;
  return scenario.starts_with("http-") ? EraChoice::modern : EraChoice::probe;
}

io::Task<void> visit(io::Loop executor, net::HttpClient& http, std::string url) {
  const std::string scenario = environment("MCP_CONFORMANCE_SCENARIO");
  peer::PeerOptions options;
  options.self.name = "relay-conformance-client";
  options.self.version = "1.0.0";
  options.era = choose_era(scenario);
  peer::HttpTarget target;
  target.endpoint = std::move(url);
  Complaints complaints;
  RELAY_CO_TRY(auto peer, co_await peer::connect_http(executor, http, std::move(target), std::move(options),
                                                      complaints));
  Visit all(std::move(peer), scenario);
  co_return co_await all.run();
}

int run(std::string url) {
  io::asio::io_context loop(1);
  const auto http = net::HttpClient::make(loop.get_executor());
  int status = 1;
  auto whole = [&]() -> io::Task<void> {
    const auto done = co_await visit(loop.get_executor(), *http, url);
    if (!done) std::fprintf(stderr, "relay-conformance-client: %s\n", describe(done.error()).c_str());
    status = done ? 0 : 1;
    loop.stop();
    co_return Result<void>{};
  };
  io::spawn(loop.get_executor(), whole(), "visit");
  loop.run();
  return status;
}

}  // namespace
}  // namespace relay

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: relay-conformance-client URL\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  return relay::run(argv[1]);
}
