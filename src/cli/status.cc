#include "cli/status.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "cli/text_table.h"
#include "world/approval_files.h"

namespace relay::cli {
namespace {

std::string text_of(const json::object& object, std::string_view key) {
  return printable(json::find_string(object, key).value_or(""), '?');
}

std::int64_t number_of(const json::object* object, std::string_view key) {
  return object ? json::find_int(*object, key).value_or(0) : 0;
}

// "2026-11-15T20:04:05.123456+00:00" without the fraction.
std::string short_time(const std::string& time) {
  return time.size() < 19 ? time : time.substr(0, 10) + " " + time.substr(11, 8) + " UTC";
}

void print_row(std::string_view name, std::string_view value) {
  if (!value.empty()) fmt::print("  {:<14}{}\n", name, value);
}

void print_servers(const app::RunningRelay& relay) {
  const std::vector<json::object> servers = servers_of(relay);
  if (servers.empty()) return;
  TextTable table({"  SERVER", "STATE", "SINCE", "CALLS", "FAILURES", "RESTARTS", "WHY"});
  for (const json::object& server : servers)
    table.add({"  " + text_of(server, "name"), text_of(server, "state"), short_time(text_of(server, "since")),
               std::to_string(number_of(&server, "calls")), std::to_string(number_of(&server, "failures")),
               std::to_string(number_of(&server, "restarts")), text_of(server, "reason")});
  fmt::print("{}", table.text());
}

void print_report(const app::RunningRelay& relay, const json::object& report) {
  fmt::print("relay {} {}, pid {}, since {}\n", text_of(report, "version"), text_of(report, "command"),
             relay.pid, short_time(text_of(report, "startedAt")));
  if (const std::string url = text_of(report, "url"); !url.empty())
    print_row("address", fmt::format("{}/mcp (auth: {})", url, text_of(report, "auth")));
  const std::string file = text_of(report, "configuration");
  print_row("configuration", file.empty() ? "embedded defaults" : file);
  const json::object* execution = json::find_object(report, "execution");
  print_row("sessions", fmt::format("{} of clients, {} of programs", number_of(&report, "sessions"),
                                    number_of(execution, "sessions")));
  if (execution)
    print_row("runs", fmt::format("{} running, {} waiting, {} ended", number_of(execution, "running"),
                                  number_of(execution, "queued"), number_of(execution, "runs")));
  if (const json::object* audit = json::find_object(report, "audit"))
    print_row("audit log", json::find_bool(*audit, "degraded").value_or(false)
                               ? "CANNOT BE WRITTEN: " + text_of(*audit, "reason")
                               : text_of(*audit, "path"));
  print_servers(relay);
}

void print_for_people(const config::Config& config, const std::vector<app::RunningRelay>& running) {
  if (running.empty())
    fmt::print("not running for {}; `relay serve` starts it\n  state         {}\n", config.root.string(),
               config.state.string());
  for (const app::RunningRelay& relay : running) {
    if (relay.report)
      print_report(relay, *relay.report);
    else
      fmt::print("pid {} does not answer\n", relay.pid);
  }
  if (const std::size_t waiting = world::list_pending(config.state).size(); waiting > 0)
    fmt::print("{} wait{} for you: relay approvals list\n", waiting, waiting == 1 ? "s" : "");
}

json::object to_json(const config::Config& config, const std::vector<app::RunningRelay>& running) {
  json::array relays;
  for (const app::RunningRelay& relay : running) {
    json::object one = relay.report.value_or(json::object());
    one["pid"] = relay.pid;
    one["answers"] = relay.report.has_value();
    relays.push_back(std::move(one));
  }
  return {{"running", !running.empty()},
          {"root", config.root.string()},
          {"configuration", config.file.string()},
          {"state", config.state.string()},
          {"approvalsWaiting", world::list_pending(config.state).size()},
          {"relays", std::move(relays)}};
}

}  // namespace

std::vector<json::object> servers_of(const app::RunningRelay& relay) {
  std::vector<json::object> servers;
  const json::object* upstreams = relay.report ? json::find_object(*relay.report, "upstreams") : nullptr;
  const json::array* list = upstreams ? json::find_array(*upstreams, "servers") : nullptr;
  if (!list) return servers;
  for (const json::value& server : *list)
    if (server.is_object()) servers.push_back(server.get_object());
  return servers;
}

int run_status(const CommandOptions& options, const config::Config& config) {
  const std::vector<app::RunningRelay> running = app::find_running(config.state);
  if (options.json)
    fmt::print("{}\n", json::write_pretty(to_json(config, running)));
  else
    print_for_people(config, running);
  return running.empty() ? 1 : 0;
}

}  // namespace relay::cli
