// `relay mcp test` and `relay mcp tools`: start a server, ask what it offers, show it.
#include <chrono>

#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/mcp_command.h"
#include "cli/mcp_live.h"
#include "cli/text_table.h"

namespace relay::cli {
namespace {

using OfferPtr = std::shared_ptr<const upstream::Offer>;

struct Tried {
  std::string name;
  std::optional<Error> error;
  OfferPtr offer;
  upstream::Status status;
  std::chrono::milliseconds took{};
};

io::Task<Tried> try_server(world::World& world, std::shared_ptr<upstream::Upstream> server) {
  Tried tried;
  tried.name = server->spec().name;
  const MonoTime began = world.services().clock.mono();
  auto offer = co_await say_while(server->offer(), [server] { return waiting_text(*server); });
  tried.took = std::chrono::duration_cast<std::chrono::milliseconds>(world.services().clock.mono() - began);
  tried.status = server->status();
  if (offer)
    tried.offer = *std::move(offer);
  else
    tried.error = final_error(*server, std::move(offer.error()));
  co_return tried;
}

std::string server_title(const upstream::Offer& offer) {
  return fmt::format("{} {}", json::find_string(offer.server, "name").value_or("without a name"),
                     json::find_string(offer.server, "version").value_or(""));
}

std::string era_title(const upstream::Status& status) {
  if (!status.revision) return "unknown";
  return fmt::format("{} ({})",
                     protocol::era_of(*status.revision) == protocol::Era::modern ? "modern" : "legacy",
                     protocol::name_of(*status.revision));
}

void print_failure(const Tried& tried) {
  fmt::print(stderr, "{}: does not work: {}\n", tried.name, tried.error->message);
  for (const std::string& line : tried.status.stderr_tail) fmt::print(stderr, "  stderr: {}\n", line);
}

void print_success(const Tried& tried) {
  const upstream::Offer& offer = *tried.offer;
  fmt::print("{}: works, {} ms\n", tried.name, tried.took.count());
  fmt::print("  server     {}\n  era        {}\n", server_title(offer), era_title(tried.status));
  fmt::print("  offers     {} tools, {} prompts, {} resources, {} templates\n", offer.tools.items->size(),
             offer.prompts.items->size(), offer.resources.items->size(), offer.templates.items->size());
  for (const std::string& oddity : offer.oddities) fmt::print("  odd        {}\n", oddity);
}

json::object to_json(const Tried& tried) {
  json::object out{{"name", tried.name}, {"works", !tried.error}, {"ms", tried.took.count()}};
  if (tried.error) {
    out["error"] = tried.error->message;
    out["stderr"] = json::array(tried.status.stderr_tail.begin(), tried.status.stderr_tail.end());
    return out;
  }
  const upstream::Offer& offer = *tried.offer;
  out["server"] = offer.server;
  out["capabilities"] = offer.capabilities;
  if (tried.status.revision) out["revision"] = std::string(protocol::name_of(*tried.status.revision));
  out["era"] = tried.status.revision && protocol::era_of(*tried.status.revision) == protocol::Era::modern
                   ? "modern"
                   : "legacy";
  out["tools"] = offer.tools.items->size();
  out["prompts"] = offer.prompts.items->size();
  out["resources"] = offer.resources.items->size();
  out["templates"] = offer.templates.items->size();
  out["oddities"] = json::array(offer.oddities.begin(), offer.oddities.end());
  return out;
}

io::Task<int> try_all(world::World& world, bool as_json) {
  json::array reports;
  int failed = 0;
  for (const auto& server : world.fleet().all()) {
    RELAY_CO_TRY(const Tried tried, co_await try_server(world, server));
    failed += tried.error ? 1 : 0;
    if (as_json)
      reports.push_back(to_json(tried));
    else if (tried.error)
      print_failure(tried);
    else
      print_success(tried);
    std::fflush(stdout);
  }
  if (as_json) fmt::print("{}\n", json::write_pretty(reports));
  co_return failed == 0 ? 0 : 1;
}

std::string first_line(std::string_view text, std::size_t bytes) {
  const std::string_view line = trim_ascii(text.substr(0, text.find('\n')));
  return line.size() <= bytes ? std::string(line) : std::string(utf8_prefix(line, bytes)) + "...";
}

void print_full(const protocol::Tool& tool) {
  fmt::print("{}\n", tool.name);
  if (!tool.description.empty()) fmt::print("{}\n", tool.description);
  fmt::print("parameters: {}\n", json::write_pretty(tool.input_schema.value()));
  if (tool.output_schema) fmt::print("gives: {}\n", json::write_pretty(tool.output_schema->value()));
  fmt::print("\n");
}

void print_raw(const std::vector<protocol::Tool>& tools) {
  std::string out;
  for (const protocol::Tool& tool : tools) {
    if (!out.empty()) out += ",\n ";
    if (tool.raw)
      out += tool.raw->text();
    else
      protocol::append_json(out, tool, protocol::kLatestModern);
  }
  fmt::print("[{}]\n", out);
}

io::Task<int> show_tools(world::World& world, McpOptions options) {
  const std::shared_ptr<upstream::Upstream> server = world.fleet().find(options.names.front());
  RELAY_CO_TRY(const Tried tried, co_await try_server(world, server));
  if (tried.error) {
    print_failure(tried);
    co_return 1;
  }
  const std::vector<protocol::Tool>& tools = *tried.offer->tools.items;
  if (options.json) print_raw(tools);
  TextTable table({"TOOL", "WHAT IT DOES"});
  for (const protocol::Tool& tool : tools) {
    if (options.full) print_full(tool);
    table.add({tool.name, first_line(tool.description, 100)});
  }
  if (!options.json && !options.full) fmt::print("{}", table.text());
  co_return 0;
}

}  // namespace

int run_mcp_test(const CommandOptions& options, const config::Config& config) {
  auto servers = pick_servers(config, options.mcp.names, Disabled::wanted);
  if (!servers) return say_error(servers.error());
  if (servers->empty()) {
    fmt::print(stderr, "relay: no server is enabled; `relay mcp list` shows them\n");
    return 2;
  }
  run_with_servers(config, *std::move(servers),
                   [as_json = options.mcp.json](world::World& world) { return try_all(world, as_json); });
}

int run_mcp_tools(const CommandOptions& options, const config::Config& config) {
  auto servers = pick_servers(config, options.mcp.names, Disabled::refused);
  if (!servers) return say_error(servers.error());
  run_with_servers(config, *std::move(servers),
                   [mcp = options.mcp](world::World& world) { return show_tools(world, mcp); });
}

}  // namespace relay::cli
