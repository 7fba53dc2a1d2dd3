#include "cli/mcp_cli.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace relay::cli {
namespace {

CLI::App& add_action(CLI::App& mcp, CommandOptions& options, McpAction action, const std::string& name,
                     const std::string& meaning) {
  CLI::App& app = *mcp.add_subcommand(name, meaning);
  app.add_option_function<std::string>(
         "-c,--config",
         [&options](const std::string& path) {
           options.sources.file = path;
           options.sources.file_required = true;
         },
         "Configuration file (default: relay.config.json here or in a directory above)")
      ->type_name("FILE");
  add_state(app, options);
  app.callback([&options, action] {
    options.command = Command::mcp;
    options.mcp.action = action;
  });
  return app;
}

void add_name(CLI::App& app, CommandOptions& options, const std::string& meaning) {
  app.add_option_function<std::string>(
         "name", [&options](const std::string& name) { options.mcp.names = {name}; }, meaning)
      ->required()
      ->type_name("NAME");
}

// An option of `add` that is a key of the entry.
void add_entry_text(CLI::App& app, CommandOptions& options, const std::string& flag, const std::string& key,
                    const std::string& meaning, const std::string& type) {
  app.add_option_function<std::string>(
         flag, [&options, key](const std::string& value) { options.mcp.entry[key] = value; }, meaning)
      ->type_name(type);
}

void add_entry_choice(CLI::App& app, CommandOptions& options, const std::string& flag, const std::string& key,
                      const std::string& meaning, std::vector<std::string> choices) {
  app.add_option_function<std::string>(
         flag, [&options, key](const std::string& value) { options.mcp.entry[key] = value; }, meaning)
      ->check(CLI::IsMember(std::move(choices)));
}

void add_entry_number(CLI::App& app, CommandOptions& options, const std::string& flag, const std::string& key,
                      const std::string& meaning) {
  app.add_option_function<std::int64_t>(
         flag, [&options, key](const std::int64_t& value) { options.mcp.entry[key] = value; }, meaning)
      ->check([meaning](const std::string& text) { return number_problem(text, meaning); });
}

void add_list(CLI::App& app, CommandOptions& options, const std::string& flag, const std::string& key,
              const std::string& meaning) {
  app.add_option_function<std::vector<std::string>>(
         flag,
         [&options, key](const std::vector<std::string>& values) {
           options.mcp.entry[key] = json::array(values.begin(), values.end());
         },
         meaning)
      ->allow_extra_args(false)
      ->type_name("GLOB");
}

// Once for each value: what follows one is not taken for another.
CLI::Option* repeated(CLI::Option* option, const std::string& type) {
  return option->allow_extra_args(false)->type_name(type);
}

void add_add(CLI::App& mcp, CommandOptions& options) {
  CLI::App& app = add_action(mcp, options, McpAction::add, "add",
                             "Add a server: relay mcp add NAME [OPTIONS] [--] COMMAND ARGS... | --url URL");
  add_name(app, options, "Name of the server, and prefix of its tools");
  add_entry_text(app, options, "-u,--url", "endpoint", "The address of a server that runs already", "URL");
  add_entry_choice(app, options, "-t,--transport", "transport",
                   "Default: stdio with a command, http with a URL", {"stdio", "http", "sse"});
  repeated(app.add_option("-e,--env", options.mcp.env,
                          "A variable of its environment; ${secret:NAME}, ${env:NAME} and ${file:PATH} are "
                          "filled in at start"),
           "K=V");
  repeated(
      app.add_option("-H,--header", options.mcp.headers, "A header of each request; the same references"),
      "K=V");
  add_entry_choice(app, options, "--expose", "expose",
                   "Who sees its tools: programs (code, the default), the tool list (tools), both, none",
                   {"code", "tools", "both", "none"});
  add_entry_text(app, options, "--cwd", "cwd",
                 "Its working directory (default: the directory of the configuration)", "DIR");
  add_entry_text(app, options, "--description", "description", "What it is for", "TEXT");
  add_entry_choice(app, options, "--era", "era", "Which generation of the protocol to speak",
                   {"probe", "legacy", "modern"});
  add_entry_choice(app, options, "--sharing", "sharing",
                   "session: a process of its own for each client session", {"shared", "session"});
  add_entry_number(app, options, "--start-timeout", "startTimeoutMs", "Milliseconds");
  add_entry_number(app, options, "--call-timeout", "callTimeoutMs", "Milliseconds");
  add_entry_number(app, options, "--idle-stop", "idleStopMs", "Milliseconds; 0: never");
  add_list(app, options, "--allow", "allow", "Offer only these tools");
  add_list(app, options, "--deny", "deny", "Never offer these tools");
  app.add_flag_callback(
      "--disabled", [&options] { options.mcp.entry["enabled"] = false; }, "Add it, but do not start it yet");
  app.add_flag_callback(
      "--autostart", [&options] { options.mcp.entry["autostart"] = true; },
      "Start it with Relay instead of on first use");
  app.add_flag("--sandbox", options.mcp.sandbox, "Behind walls: no files but the system's, no network");
  repeated(app.add_option("--read", options.mcp.sandbox_read, "A directory it may read (implies --sandbox)"),
           "DIR");
  repeated(
      app.add_option("--write", options.mcp.sandbox_write, "A directory it may write (implies --sandbox)"),
      "DIR");
  repeated(
      app.add_option("--host", options.mcp.sandbox_hosts, "A host it may connect to (implies --sandbox)"),
      "HOST");
  app.add_flag("--replace", options.mcp.replace, "Replace a server that has this name");
  app.prefix_command();
  app.footer(
      "Examples:\n"
      "  relay mcp add fs --expose tools npx -y @modelcontextprotocol/server-filesystem .\n"
      "  relay mcp add search --url https://search.example/mcp --header 'Authorization=Bearer "
      "${secret:search}'\n"
      "  relay mcp add db --sandbox --read ./data -- sqlite-server --db ./data/x.db");
  app.callback([&app, &options] {
    options.command = Command::mcp;
    options.mcp.action = McpAction::add;
    std::vector<std::string> words = app.remaining();
    if (!words.empty() && !options.mcp.command.empty())
      words.emplace_back("--");  // it was an argument of the command
    options.mcp.command.insert(options.mcp.command.begin(), words.begin(), words.end());
  });
}

void add_entries(CLI::App& mcp, CommandOptions& options) {
  CLI::App& list = add_action(mcp, options, McpAction::list, "list",
                              "Show the servers of the configuration, and their health while Relay runs");
  list.add_flag("--json", options.mcp.json, "As JSON; values of env and headers are left out");
  const auto named = [&](McpAction action, const std::string& name, const std::string& meaning) {
    add_action(mcp, options, action, name, meaning)
        .add_option("name", options.mcp.names, "Which")
        ->required()
        ->type_name("NAME...");
  };
  named(McpAction::remove, "remove", "Remove servers from the configuration");
  named(McpAction::enable, "enable", "Use servers again");
  named(McpAction::disable, "disable", "Do not use servers, but keep their entries");
}

void add_live(CLI::App& mcp, CommandOptions& options) {
  CLI::App& test = add_action(mcp, options, McpAction::test, "test",
                              "Start servers and say what they offer; exit 1 when one does not work");
  test.add_option("name", options.mcp.names, "Which, disabled ones too (default: all that are enabled)")
      ->type_name("NAME...");
  test.add_flag("--json", options.mcp.json, "As JSON");
  CLI::App& tools = add_action(mcp, options, McpAction::tools, "tools", "List the tools of a server");
  add_name(tools, options, "Which server");
  tools.add_flag("--json", options.mcp.json, "As the server sent them");
  tools.add_flag("--full", options.mcp.full, "Whole descriptions and parameters");
  CLI::App& call = add_action(mcp, options, McpAction::call, "call",
                              "Call a tool, under the same policy and audit as every call");
  add_name(call, options, "Which server");
  call.add_option("tool", options.mcp.tool, "Which tool")->required()->type_name("TOOL");
  call.add_option("arguments", options.mcp.arguments,
                  "One JSON object, key=value pairs, or - for JSON on stdin")
      ->type_name("ARGS...");
  call.add_flag("--json", options.mcp.json, "The whole result as JSON");
  call.add_flag("-y,--yes", options.mcp.yes, "Answer yes to every confirmation");
  call.footer(
      "Examples:\n  relay mcp call fs read_text_file path=README.md\n  relay mcp call db query '{\"sql\": "
      "\"select 1\"}'");
  CLI::App& logs = add_action(mcp, options, McpAction::logs, "logs",
                              "Show what a server wrote to stderr and what happened to it");
  add_name(logs, options, "Which server");
  logs.add_option("-n,--lines", options.mcp.lines, "How many")->check(CLI::Range(1, 100000));
  logs.add_flag("-f,--follow", options.mcp.follow, "Keep showing new lines");
}

void add_import(CLI::App& mcp, CommandOptions& options) {
  CLI::App& app = add_action(mcp, options, McpAction::import, "import",
                             "Add servers that other programs on this machine are configured with");
  repeated(app.add_option("--from", options.mcp.from,
                          "Only this source (claude-desktop, claude-code, vscode, copilot, cursor, windsurf, "
                          "gemini, codex, opencode, ...) or this file"),
           "SOURCE|FILE");
  app.add_flag("-n,--dry-run", options.mcp.dry_run, "Show what would be added");
  app.add_flag("-y,--yes", options.mcp.yes,
               "Add everything without asking, and keep secrets in the secret store");
  app.add_flag("-a,--all", options.mcp.all,
               "Also servers that are disabled there, or belong to other projects");
  app.add_option("--expose", options.mcp.expose, "code (the default), tools, both or none")
      ->check(CLI::IsMember({"code", "tools", "both", "none"}));
}

void add_secret(CLI::App& mcp, CommandOptions& options) {
  CLI::App& secret =
      *mcp.add_subcommand("secret", "Values that the configuration only names, as ${secret:NAME}");
  secret.require_subcommand(1);
  CLI::App& set = add_action(secret, options, McpAction::secret_set, "set",
                             "Keep a value; it is read from stdin, never from the command line");
  add_name(set, options, "What to call it");
  add_action(secret, options, McpAction::secret_list, "list", "List the names of the secrets");
  CLI::App& remove = add_action(secret, options, McpAction::secret_remove, "remove", "Remove secrets");
  remove.add_option("name", options.mcp.names, "Which")->required()->type_name("NAME...");
}

}  // namespace

int take_command_line(int argc, char** argv, McpOptions& options) {
  if (argc < 3 || std::string_view(argv[1]) != "mcp" || std::string_view(argv[2]) != "add") return argc;
  for (int i = 3; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    options.command.assign(argv + i + 1, argv + argc);
    return i;
  }
  return argc;
}

void add_mcp(CLI::App& root, CommandOptions& options) {
  CLI::App& mcp = *root.add_subcommand("mcp", "Other MCP servers: add, list, test, call, import");
  mcp.require_subcommand(1);
  add_add(mcp, options);
  add_entries(mcp, options);
  add_live(mcp, options);
  add_import(mcp, options);
  add_secret(mcp, options);
}

}  // namespace relay::cli
