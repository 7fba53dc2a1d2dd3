#include "app/reload.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace relay::app {
namespace {

using upstream::ServerSpec;

const ServerSpec* find_spec(const config::Config& config, std::string_view name) {
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

}  // namespace

ConfigChange compare(const config::Config& before, const config::Config& after) {
  ConfigChange change;
  for (const ServerSpec& spec : after.mcps) {
    const ServerSpec* old = find_spec(before, spec.name);
    if (!old)
      change.added.push_back(spec.name);
    else if (!(*old == spec))
      change.changed.push_back(spec.name);
  }
  for (const ServerSpec& spec : before.mcps)
    if (!find_spec(after, spec.name)) change.removed.push_back(spec.name);
  change.for_restart = differing_keys(before.complete, after.complete);
  return change;
}

Reloading::Reloading(config::ConfigSources sources, World& world, io::Loop executor, Log& log)
    : sources_(std::move(sources)),
      world_(world),
      log_(log),
      current_(world.config()),
      watch_(std::move(executor), world.config().file, [this](WatchCause cause) { reload(cause); }) {
  sources_.file = world.config().file;
  if (!watch_.watching())
    log.warn("changes of the configuration are only seen at SIGHUP",
             {{"reason", watch_.watching().error().message}});
}

void Reloading::reload(WatchCause cause) {
  config::LoadedConfig loaded = config::load_config(sources_);
  if (!loaded.problems.empty()) return refuse(loaded.problems);
  const ConfigChange change = compare(current_, loaded.config);
  if (change.touches_servers()) world_.apply_servers(loaded.config);
  if (!change.empty() || cause == WatchCause::signal) tell(change);
  current_ = std::move(loaded.config);
}

void Reloading::refuse(const std::vector<config::ConfigProblem>& problems) {
  for (const config::ConfigProblem& problem : problems)
    log_.error("the changed configuration has a problem", {{"where", problem.where}, {"what", problem.what}});
  log_.error("the configuration stays as it was", {{"problems", problems.size()}});
}

void Reloading::tell(const ConfigChange& change) {
  log_.info("read the configuration again", {{"added", listed(change.added)},
                                             {"removed", listed(change.removed)},
                                             {"changed", listed(change.changed)},
                                             {"needsRestart", listed(change.for_restart)}});
}

}  // namespace relay::app
