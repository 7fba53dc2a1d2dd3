// `relay mcp add|remove|enable|disable`: edits of relay.config.json.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/mcp_command.h"
#include "config/config_file.h"
#include "config/environment.h"
#include "imports/secret_guess.h"

namespace relay::cli {
namespace {

struct Pair {
  std::string key;
  std::string value;
};

// K=V; for headers also "K: V", as curl takes them.
Result<Pair> parse_pair(const std::string& text, std::string_view what, bool allow_colon) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = allow_colon ? text.find(':') : std::string::npos;
  const std::size_t at = std::min(equals, colon);
  if (at == std::string::npos || at == 0) return fail(invalid(fmt::format("{}: expected NAME=VALUE", what)));
  std::size_t from = at + 1;
  while (at == colon && from < text.size() && text[from] == ' ') ++from;
  return Pair{text.substr(0, at), text.substr(from)};
}

Result<json::object> pairs_of(const std::vector<std::string>& texts, std::string_view what,
                              bool allow_colon) {
  json::object out;
  for (const std::string& text : texts) {
    RELAY_TRY(Pair pair, parse_pair(text, what, allow_colon));
    out[pair.key] = pair.value;
  }
  return out;
}

json::array list_of(const std::vector<std::string>& items) {
  return json::array(items.begin(), items.end());
}

void add_sandbox(const McpOptions& mcp, json::object& entry) {
  json::object walls;
  if (!mcp.sandbox_read.empty()) walls["read"] = list_of(mcp.sandbox_read);
  if (!mcp.sandbox_write.empty()) walls["write"] = list_of(mcp.sandbox_write);
  if (!mcp.sandbox_hosts.empty()) walls["hosts"] = list_of(mcp.sandbox_hosts);
  if (!walls.empty())
    entry["sandbox"] = std::move(walls);
  else if (mcp.sandbox)
    entry["sandbox"] = true;
}

// In the order in which people read it: who, what, how.
Result<json::object> make_entry(const McpOptions& mcp) {
  const bool has_url = mcp.entry.contains("endpoint");
  if (mcp.command.empty() && !has_url)
    return fail(
        invalid("what is to be started? relay mcp add NAME COMMAND ARGS..., or --url URL for a server that "
                "runs already"));
  if (!mcp.command.empty() && has_url) return fail(invalid("a server has a command or a --url, not both"));
  json::object entry{{"name", mcp.names.front()}};
  if (!mcp.command.empty()) entry["command"] = mcp.command.front();
  if (mcp.command.size() > 1) entry["args"] = json::array(mcp.command.begin() + 1, mcp.command.end());
  RELAY_TRY(json::object env, pairs_of(mcp.env, "--env", false));
  RELAY_TRY(json::object headers, pairs_of(mcp.headers, "--header", true));
  if (has_url) entry["endpoint"] = mcp.entry.at("endpoint");
  if (!env.empty()) entry["env"] = std::move(env);
  if (!headers.empty()) entry["headers"] = std::move(headers);
  for (const auto& member : mcp.entry) entry.emplace(member.key(), member.value());
  add_sandbox(mcp, entry);
  return entry;
}

void warn_about_secrets(const json::object& entry, std::string_view name) {
  for (const std::string_view block : {"env", "headers"}) {
    const json::object* values = json::find_object(entry, block);
    if (!values) continue;
    for (const auto& member : *values)
      if (const std::string key(member.key());
          imports::looks_like_secret(key, json::view(member.value().get_string())))
        fmt::print(stderr,
                   "relay: {}.{} looks like a secret and stands in the configuration now; `relay mcp secret "
                   "set {}.{}` and ${{secret:{}.{}}} keep it out\n",
                   block, key, name, key, name, key);
  }
}

// It may be installed later, so the entry stands.
void warn_about_missing_program(const std::string& program) {
  const bool is_there = program.find('/') == std::string::npos
                            ? !config::find_in_path(program).empty()
                            : !program.starts_with('/') || std::filesystem::exists(program);
  if (!is_there)
    fmt::print(stderr, "relay: there is no program {} here; the server cannot start before there is\n",
               program);
}

int say_outcome(const Result<config::EditOutcome>& outcome, std::string_view done) {
  if (!outcome) return say_error(outcome.error());
  for (const config::ConfigProblem& problem : outcome->introduced)
    fmt::print(stderr, "{}: {}\n", problem.where, problem.what);
  if (!outcome->introduced.empty()) {
    fmt::print(stderr, "relay: nothing was changed\n");
    return 2;
  }
  fmt::print("{} {}{}\n", done, outcome->is_new ? "in a new " : "in ", outcome->file.string());
  if (!outcome->unattested.empty())
    fmt::print(stderr, "relay: a running Relay will ask for approval, because {}\n", outcome->unattested);
  for (const config::ConfigProblem& problem : outcome->remaining)
    fmt::print(stderr, "still wrong: {}: {}\n", problem.where, problem.what);
  return 0;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

int run_mcp_add(const CommandOptions& options) {
  const auto entry = make_entry(options.mcp);
  if (!entry) return say_error(entry.error());
  const std::string& name = options.mcp.names.front();
  const auto edit = [&](config::ConfigDocument& document) -> Result<void> {
    const std::vector<std::string> names = document.server_names();
    const bool is_there = std::ranges::find(names, name) != names.end();
    if (is_there && options.mcp.replace) return document.replace_server(name, *entry);
    if (is_there)
      return fail(
          Error{ErrorKind::conflict, Blame::peer,
                fmt::format("there is a server \"{}\" already; --replace puts this one in its place", name)});
    document.append_server(*entry);
    return {};
  };
  const int code = say_outcome(config::edit_config(options.sources, edit), fmt::format("added {}", name));
  if (code != 0) return code;
  warn_about_secrets(*entry, name);
  if (!options.mcp.command.empty()) warn_about_missing_program(options.mcp.command.front());
  fmt::print("try it: relay mcp test {}\n", name);
  return 0;
}

int run_mcp_remove(const CommandOptions& options) {
  const auto edit = [&](config::ConfigDocument& document) -> Result<void> {
    for (const std::string& name : options.mcp.names) RELAY_CHECK(document.remove_server(name));
    return {};
  };
  return say_outcome(config::edit_config(options.sources, edit), "removed " + joined(options.mcp.names));
}

int run_mcp_switch(const CommandOptions& options, bool enabled) {
  const auto edit = [&](config::ConfigDocument& document) -> Result<void> {
    for (const std::string& name : options.mcp.names)
      RELAY_CHECK(document.set_in_server(name, "enabled", enabled));
    return {};
  };
  return say_outcome(config::edit_config(options.sources, edit),
                     fmt::format("{} {}", enabled ? "enabled" : "disabled", joined(options.mcp.names)));
}

}  // namespace relay::cli
