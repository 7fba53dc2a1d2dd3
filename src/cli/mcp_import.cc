// `relay mcp import`: what other programs on this machine are configured with, shown with where it comes
// from, and added when the user says so. Nothing is started.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/mcp_command.h"
#include "config/config_file.h"
#include "config/config_upstreams.h"
#include "config/environment.h"
#include "imports/reader.h"
#include "secrets/secrets.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;
using imports::FoundServer;
using imports::Place;

// The addresses under which an entry would lead back to us.
std::vector<std::string> own_origins(const config::Config& config) {
  std::vector<std::string> origins;
  for (const std::string& host :
       {std::string("127.0.0.1"), std::string("localhost"), std::string("[::1]"), config.server.bind})
    for (const char* scheme : {"http", "https"})
      origins.push_back(fmt::format("{}://{}:{}", scheme, host, config.server.port));
  return origins;
}

// Everything that was found, sorted into what can be added and what cannot.
class Harvest {
 public:
  Harvest(const config::Config& config, const McpOptions& options)
      : options_(options), origins_(own_origins(config)) {
    for (const upstream::ServerSpec& spec : config.mcps)
      taken_.emplace(spec.name, "you have a server of that name");
  }

  void read(const Place& place, const imports::Surroundings& surroundings) {
    std::ifstream file(place.file, std::ios::binary);
    if (!file) return;
    std::string text(limits::kImportFileBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    ++files_;
    take(imports::read_servers(text, place, surroundings), place);
  }

  [[nodiscard]] std::vector<FoundServer>& found() { return found_; }
  [[nodiscard]] std::size_t files() const { return files_; }

  void print() const {
    for (const FoundServer& one : found_) print_found(one);
    for (const imports::SkippedServer& one : skipped_)
      fmt::print("  skipped {} ({}): {}\n", one.name, where(one.from), one.why);
    for (const std::string& problem : problems_) fmt::print("  not read: {}\n", problem);
  }

 private:
  void take(imports::Reading reading, const Place& place) {
    if (!reading.problem.empty())
      problems_.push_back(fmt::format("{}: {}", place.file.string(), reading.problem));
    std::ranges::move(reading.skipped, std::back_inserter(skipped_));
    for (FoundServer& one : reading.found) {
      const std::string why = why_not(one);
      if (!why.empty()) {
        skipped_.push_back({one.spec.name, one.from, why});
        continue;
      }
      taken_.emplace(one.spec.name, fmt::format("defined already in {}", place.file.string()));
      found_.push_back(std::move(one));
    }
  }

  [[nodiscard]] std::string why_not(const FoundServer& one) const {
    if (imports::points_to_relay(one.spec, origins_)) return "it is Relay itself";
    if (!one.spec.enabled && !options_.all) return "it is disabled there; --all takes it too";
    if (one.from_other_project && !options_.all)
      return fmt::format("it belongs to the project {}; --all takes it too", one.spec.cwd);
    const auto taken = taken_.find(one.spec.name);
    return taken == taken_.end() ? std::string() : taken->second;
  }

  static std::string where(const imports::Provenance& from) {
    return fmt::format("{}: {}, {}", from.title, from.file.string(), from.key);
  }

  static void print_found(const FoundServer& one) {
    fmt::print("  {}\n    from    {}\n    {}    {}\n", one.spec.name, where(one.from),
               one.spec.transport == upstream::ServerTransport::stdio ? "runs" : "url ",
               describe_server(one.spec));
    for (const imports::KeptSecret& secret : one.secrets)
      fmt::print("    secret  {} looks like one: kept as ${{secret:{}}}\n", secret.where, secret.name);
    for (const std::string& need : one.needs)
      fmt::print("    needs   a value: relay mcp secret set {}\n", need);
    for (const std::string& note : one.notes) fmt::print("    note    {}\n", note);
  }

  const McpOptions& options_;
  std::vector<std::string> origins_;
  std::map<std::string, std::string> taken_;  // names that are no longer free, and why
  std::vector<FoundServer> found_;
  std::vector<imports::SkippedServer> skipped_;
  std::vector<std::string> problems_;
  std::size_t files_ = 0;
};

std::vector<Place> files_of(const Place& folder) {
  std::vector<Place> out;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.file, ignored)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".json" && path.extension() != ".toml") continue;
    Place one = folder;
    one.file = path;
    one.format = path.extension() == ".toml" ? imports::DocumentFormat::toml : imports::DocumentFormat::json;
    one.every_file = false;
    out.push_back(std::move(one));
  }
  std::ranges::sort(out, {}, &Place::file);
  return out;
}

// --from names sources we know, or files.
Result<std::vector<Place>> chosen_places(const std::vector<std::string>& from, const fs::path& home) {
  const std::vector<Place> known = imports::known_places(home, fs::current_path());
  if (from.empty()) return known;
  std::vector<Place> out;
  for (const std::string& name : from) {
    const std::size_t before = out.size();
    std::ranges::copy_if(known, std::back_inserter(out),
                         [&](const Place& place) { return place.source == name; });
    std::error_code ignored;
    if (out.size() == before && fs::is_regular_file(name, ignored))
      out.push_back(imports::place_of_file(fs::absolute(name), home));
    if (out.size() == before)
      return fail(invalid(fmt::format("\"{}\" is neither a file nor a source; the sources are {}", name,
                                      fmt::join(imports::source_names(known), ", "))));
  }
  return out;
}

Result<void> read_places(Harvest& harvest, const McpOptions& options) {
  const auto environment = config::process_environment();
  const auto home_variable = environment.find("HOME");
  const fs::path home =
      home_variable == environment.end() ? fs::path("/nonexistent") : fs::path(home_variable->second);
  RELAY_TRY(const std::vector<Place> places, chosen_places(options.from, home));
  for (const Place& place : places) {
    const imports::Surroundings surroundings{.home = home,
                                             .folder = place.folder,
                                             .working_directory = fs::current_path(),
                                             .environment = environment};
    for (const Place& file : place.every_file ? files_of(place) : std::vector<Place>{place})
      harvest.read(file, surroundings);
  }
  return {};
}

// Answers come from stdin; its end means no.
class Questions {
 public:
  explicit Questions(bool yes) : yes_(yes) {}

  bool wants(const FoundServer& one) {
    if (yes_) return true;
    if (stopped_) return false;
    const bool is_process = one.spec.transport == upstream::ServerTransport::stdio;
    const std::string answer =
        ask(fmt::format("add {}? It {} {} [y/N, a for all, q to stop] ", one.spec.name,
                        is_process ? "would run:" : "is at", describe_server(one.spec)));
    yes_ = answer == "a" || answer == "all";
    stopped_ = answer == "q" || answer == "quit";
    return yes_ || answer == "y" || answer == "yes";
  }

  bool keeps(const imports::KeptSecret& secret) {
    if (yes_) return true;
    const std::string answer =
        ask(fmt::format("keep {} in the secret store instead of the configuration? [Y/n] ", secret.where));
    return answer != "n" && answer != "no";
  }

 private:
  std::string ask(const std::string& question) {
    fmt::print("{}", question);
    std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) stopped_ = true;
    if (!::isatty(STDIN_FILENO)) fmt::print("\n");
    return line;
  }

  bool yes_;
  bool stopped_ = false;
};

// The user wants the value where it was: the reference becomes what it stands for.
void put_back(FoundServer& server, const imports::KeptSecret& secret) {
  const std::string reference = fmt::format("{}${{secret:{}}}", secret.prefix, secret.name);
  for (auto* values : {&server.spec.env, &server.spec.headers})
    for (auto& [key, value] : *values)
      if (value == reference) value = secret.prefix + secret.value;
  for (std::string& argument : server.spec.args)
    if (argument == reference) argument = secret.prefix + secret.value;
}

Result<void> keep_secrets(std::vector<FoundServer>& servers, Questions& questions,
                          secrets::SecretStore& store) {
  for (FoundServer& server : servers)
    for (const imports::KeptSecret& secret : server.secrets) {
      if (!questions.keeps(secret))
        put_back(server, secret);
      else
        RELAY_CHECK(store.set(secret.name, secret.value));
    }
  return {};
}

int add_servers(const CommandOptions& options, const std::vector<FoundServer>& servers) {
  const auto outcome =
      config::edit_config(options.sources, [&](config::ConfigDocument& document) -> Result<void> {
        for (const FoundServer& server : servers) document.append_server(config::entry_of(server.spec));
        return {};
      });
  if (!outcome) return say_error(outcome.error());
  for (const config::ConfigProblem& problem : outcome->introduced)
    fmt::print(stderr, "{}: {}\n", problem.where, problem.what);
  if (!outcome->introduced.empty()) {
    fmt::print(stderr, "relay: nothing was added\n");
    return 2;
  }
  fmt::print("added {} server{} to {}; `relay mcp test` tries them\n", servers.size(),
             servers.size() == 1 ? "" : "s", outcome->file.string());
  for (const FoundServer& server : servers)
    for (const std::string& need : server.needs)
      fmt::print("{} needs a value: relay mcp secret set {}\n", server.spec.name, need);
  return 0;
}

}  // namespace

int run_mcp_import(const CommandOptions& options, const config::Config& config) {
  Harvest harvest(config, options.mcp);
  if (const auto done = read_places(harvest, options.mcp); !done) return say_error(done.error());
  fmt::print("found {} server{} in {} file{}\n", harvest.found().size(),
             harvest.found().size() == 1 ? "" : "s", harvest.files(), harvest.files() == 1 ? "" : "s");
  harvest.print();
  if (harvest.found().empty() || options.mcp.dry_run) return 0;

  Questions questions(options.mcp.yes);
  std::vector<FoundServer> chosen;
  for (FoundServer& one : harvest.found())
    if (questions.wants(one)) chosen.push_back(std::move(one));
  if (chosen.empty()) {
    fmt::print("nothing was added\n");
    return 0;
  }
  if (!options.mcp.expose.empty())
    for (FoundServer& one : chosen) one.spec.expose = config::expose_of(options.mcp.expose);
  secrets::SecretStore store(mcp_state(config) / "secrets.json");
  if (const auto kept = keep_secrets(chosen, questions, store); !kept) return say_error(kept.error());
  return add_servers(options, chosen);
}

}  // namespace relay::cli
