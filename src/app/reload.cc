#include "app/reload.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/config_upstreams.h"
#include "app/config_watch.h"

namespace relay::app {
namespace {

using upstream::ServerSpec;

const ServerSpec* find_spec(const Config& config, std::string_view name) {
  const auto found = std::ranges::find(config.mcps, name, &ServerSpec::name);
  return found == config.mcps.end() ? nullptr : &*found;
}

// The keys at the top of two complete configurations that differ, "mcps" aside.
std::vector<std::string> differing_keys(const json::object& before, const json::object& after) {
  std::vector<std::string> keys;
  for (const auto& member : after) {
    const std::string key(member.key());
    const json::value* old = json::find(before, key);
    if (key != "mcps" && key != "$schema" && (!old || *old != member.value())) keys.push_back(key);
  }
  return keys;
}

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

class Reloader {
 public:
  Reloader(ConfigSources sources, World& world, Log& log) : sources_(std::move(sources)), world_(world), log_(log), current_(world.config()) {}

  void reload(WatchCause cause) {
    LoadedConfig loaded = load_config(sources_);
    if (!loaded.problems.empty()) return refuse(loaded.problems);
    const ConfigChange change = compare(current_, loaded.config);
    if (change.touches_servers()) world_.fleet().apply(specs_of(loaded.config));
    if (!change.empty() || cause == WatchCause::signal) tell(change);
    current_ = std::move(loaded.config);
  }

 private:
  void refuse(const std::vector<ConfigProblem>& problems) {
    for (const ConfigProblem& problem : problems) log_.error("the changed configuration has a problem", {{"where", problem.where}, {"what", problem.what}});
    log_.error("the configuration stays as it was", {{"problems", problems.size()}});
  }

  void tell(const ConfigChange& change) {
    log_.info("read the configuration again", {{"added", listed(change.added)}, {"removed", listed(change.removed)}, {"changed", listed(change.changed)}, {"needsRestart", listed(change.for_restart)}});
  }

  ConfigSources sources_;
  World& world_;
  Log& log_;
  Config current_;
};

}  // namespace

ConfigChange compare(const Config& before, const Config& after) {
  ConfigChange change;
  for (const ServerSpec& spec : after.mcps) {
    const ServerSpec* old = find_spec(before, spec.name);
    if (!old) change.added.push_back(spec.name);
    else if (!(*old == spec)) change.changed.push_back(spec.name);
  }
  for (const ServerSpec& spec : before.mcps)
    if (!find_spec(after, spec.name)) change.removed.push_back(spec.name);
  change.for_restart = differing_keys(before.complete, after.complete);
  return change;
}

void watch_config(ConfigSources sources, World& world, io::Executor executor, Log& log) {
  const std::filesystem::path file = world.config().file;
  sources.file = file;
  auto reloader = std::make_shared<Reloader>(std::move(sources), world, log);
  const auto watched = ConfigWatch::start(executor, {.file = file}, [reloader](WatchCause cause) { reloader->reload(cause); }, {});
  if (!watched) log.warn("changes of the configuration are only seen at SIGHUP", {{"reason", watched.error().message}});
}

}  // namespace relay::app
