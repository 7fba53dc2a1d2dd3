#include "app/reload.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/digest.h"
#include "config/attestation.h"
#include "io/spawn.h"
#include "policy/redaction.h"

namespace relay::app {
namespace {

using upstream::ServerSpec;

constexpr std::size_t kIdDigits = 12;
// A file is read a moment after it changed, also on a busy machine; one that comes later was put back.
constexpr auto kAttestationAge = std::chrono::minutes(1);

const ServerSpec* find_spec(const config::Config& config, std::string_view name) {
  const auto found = std::ranges::find(config.mcps, name, &ServerSpec::name);
  return found == config.mcps.end() ? nullptr : &*found;
}

const json::value* find_entry(const config::Config& config, std::string_view name) {
  const json::array* entries = json::find_array(config.complete, "mcps");
  if (!entries) return nullptr;
  for (const json::value& entry : *entries)
    if (json::find_string(entry.as_object(), "name") == name) return &entry;
  return nullptr;
}

const json::object& policy_block(const config::Config& config) {
  return config.complete.at("policy").as_object();
}

// What a running Relay cannot take over of "policy": it was built into other things.
constexpr std::array kBuiltInPolicy = {"requireServers", "confirmTtlSeconds", "agentMayConfirm"};
// What it takes over as a whole.
constexpr std::array kLiveKeys = {"mounts", "tools"};

json::object built_in_policy(const config::Config& config) {
  json::object rest;
  for (const char* key : kBuiltInPolicy)
    if (const json::value* found = json::find(policy_block(config), key)) rest[key] = *found;
  return rest;
}

json::object live_policy(const config::Config& config) {
  json::object live = policy_block(config);
  for (const char* key : kBuiltInPolicy) live.erase(key);
  // What may be written where the configuration does not say depends on the mounts.
  const std::vector<std::string>& writable = config.policy.run.filesystem.writable;
  live["filesystem"].as_object()["writable"] = json::array(writable.begin(), writable.end());
  return live;
}

bool has_more_toolsets(const config::Config& before, const config::Config& after) {
  return !std::ranges::all_of(after.toolsets,
                              [&](const std::string& name) { return before.has_toolset(name); });
}

bool has_fewer_toolsets(const config::Config& before, const config::Config& after) {
  return has_more_toolsets(after, before);
}

// Sorts the keys at the top that differ, but for "mcps", into those of the next call and of the next start.
void sort_keys(const config::Config& before, const config::Config& after, ConfigChange& change) {
  for (const auto& member : after.complete) {
    const std::string key(member.key());
    const json::value* old = json::find(before.complete, key);
    if (key == "mcps" || key == "$schema" || key == "policy" || (old && *old == member.value())) continue;
    if (key == "toolsets" && has_fewer_toolsets(before, after)) change.live.push_back(key);
    if (key == "toolsets" && !has_more_toolsets(before, after)) continue;
    (std::ranges::find(kLiveKeys, key) != kLiveKeys.end() ? change.live : change.for_restart).push_back(key);
  }
  if (live_policy(before) != live_policy(after)) change.live.emplace_back("policy");
  if (built_in_policy(before) != built_in_policy(after)) change.for_restart.emplace_back("policy");
}

json::array shown_arguments(const ServerSpec& spec) {
  const std::vector<std::string> args = policy::redact_arguments(spec.command, spec.args);
  return json::array(args.begin(), args.end());
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

json::object describe_change(const ConfigChange& change) {
  return {{"added", joined(change.added)},
          {"changed", joined(change.changed)},
          {"needsRestart", joined(change.for_restart)},
          {"inForce", joined(change.live)},
          {"removed", joined(change.removed)}};
}

}  // namespace

// What the pool found.
struct Reloading::Reading {
  config::LoadedConfig loaded;
  std::string digest;  // of the text; empty when it could not be read
  std::optional<config::Attestation> attestation;
  bool is_attested = false;
};

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
  sort_keys(before, after, change);
  return change;
}

config::Config without_widenings(const config::Config& before, const config::Config& after,
                                 std::vector<config::Widening>& widenings) {
  widenings = config::find_widenings(before, after);
  config::Config part = widenings.empty() ? after : before;
  part.mcps.clear();
  json::array entries;
  for (const ServerSpec& spec : after.mcps) {
    const auto found = config::find_server_widenings(before, after, spec.name);
    widenings.insert(widenings.end(), found.begin(), found.end());
    const config::Config& source = found.empty() ? after : before;
    if (const ServerSpec* taken = find_spec(source, spec.name)) {
      part.mcps.push_back(*taken);
      entries.push_back(*find_entry(source, spec.name));
    }
  }
  part.complete["mcps"] = std::move(entries);
  return part;
}

Reloading::Reloading(config::ConfigSources sources, world::World& world)
    : sources_(std::move(sources)),
      world_(world),
      services_(world.services()),
      current_(world.config()),
      watch_(services_.loop, world.config().file, [this](WatchCause cause) { reload(cause); }) {
  sources_.file = world.config().file;
  // What was vouched for before the start was read at the start.
  if (const auto made = config::find_attestation(world.config().state)) spent_attestation_ = made->nonce;
  if (!watch_.watching())
    services_.log.warn("changes of the configuration are only seen at SIGHUP",
                       {{"reason", watch_.watching().error().message}});
}

void Reloading::reload(WatchCause cause) {
  if (reading_) {
    again_ = cause;
    return;
  }
  reading_ = true;
  io::spawn(services_.loop, read(cause), "read the configuration");
}

// On the pool, because a configuration may lie on a disk that is slow or gone.
io::Task<void> Reloading::read(WatchCause cause) {
  auto work = [sources = sources_, state = current_.state, root = current_.root,
               hidden = world_.files().hidden()]() mutable {
    Reading reading;
    hidden->refresh();
    reading.attestation = config::find_attestation(state);
    // Relay was started without a file, and there may be one now.
    std::error_code ignored;
    if (sources.file.empty() && std::filesystem::exists(root / "relay.config.json", ignored))
      sources.file = root / "relay.config.json";
    if (!sources.file.empty()) {
      auto text = config::read_config_text(sources.file);
      if (!text) {
        reading.loaded.problems.push_back({sources.file.string(), text.error().message});
        return reading;
      }
      reading.digest = sha256_hex(*text);
      reading.is_attested = reading.attestation && config::attests(state, *reading.attestation, *text);
      sources.text = std::move(*text);
    }
    reading.loaded = config::load_config(sources);
    return reading;
  };
  Reading reading = co_await world_.pool().run(std::move(work));
  judge(std::move(reading), cause);
  reading_ = false;
  if (again_) reload(*std::exchange(again_, std::nullopt));
  co_return Result<void>{};
}

void Reloading::judge(Reading reading, WatchCause cause) {
  const std::string nonce = reading.attestation ? reading.attestation->nonce : std::string();
  const bool vouched =
      reading.is_attested && nonce != spent_attestation_ && reading.attestation->age < kAttestationAge;
  if (vouched) spent_attestation_ = nonce;
  if (!reading.loaded.problems.empty()) return refuse(reading.loaded.problems, reading.digest);
  config::Config& wanted = reading.loaded.config;
  if (vouched) return adopt(std::move(wanted), "a command of Relay's own", reading.digest, cause);
  std::vector<config::Widening> widenings;
  config::Config part = without_widenings(current_, wanted, widenings);
  if (widenings.empty())
    return adopt(std::move(wanted), "the file, which widens nothing", reading.digest, cause);
  const bool asked_before = reading.digest == denied_ && cause == WatchCause::file;
  if (!compare(current_, part).empty()) note("reload_tightened", describe_change(compare(current_, part)));
  put_in_force(std::move(part));
  if (asked_before)
    withdraw();
  else
    wait(std::move(wanted), widenings, reading.digest);
}

void Reloading::refuse(const std::vector<config::ConfigProblem>& problems, const std::string& digest) {
  withdraw();
  for (const config::ConfigProblem& problem : problems)
    services_.log.error("the changed configuration has a problem",
                        {{"where", problem.where}, {"what", problem.what}});
  services_.log.error("the configuration stays as it was", {{"problems", problems.size()}});
  world_.adopt(current_);  // cages cover the file that is there now
  note("reload_refused",
       {{"problems", problems.size()}, {"sha256", digest}, {"where", problems.front().where}});
}

void Reloading::put_in_force(config::Config config) {
  const ConfigChange change = compare(current_, config);
  current_ = std::move(config);
  world_.adopt(current_);
  if (change.live.empty()) return;
  for (const auto list : {protocol::ListKind::tools, protocol::ListKind::resources})
    world_.backend().tell_clients(protocol::ListChanged{list});
}

void Reloading::adopt(config::Config config, std::string_view by, const std::string& digest,
                      WatchCause cause) {
  withdraw();
  denied_.clear();
  const ConfigChange change = compare(current_, config);
  put_in_force(std::move(config));
  if (change.empty() && cause != WatchCause::signal) return;
  services_.log.info("read the configuration again", {{"added", joined(change.added)},
                                                      {"removed", joined(change.removed)},
                                                      {"changed", joined(change.changed)},
                                                      {"inForce", joined(change.live)},
                                                      {"needsRestart", joined(change.for_restart)}});
  json::object args = describe_change(change);
  args["by"] = std::string(by);
  args["sha256"] = digest;
  note("reload_applied", std::move(args));
}

void Reloading::wait(config::Config wanted, const std::vector<config::Widening>& widenings,
                     const std::string& digest) {
  const std::string id = world_.ids().of_node(digest.substr(0, kIdDigits));
  if (id == waiting_) return;
  withdraw();
  waiting_ = id;
  const std::string what = config::describe(widenings);
  json::array list;
  for (const config::Widening& one : widenings) list.push_back({{"path", one.path}, {"what", one.what}});
  world::PendingApproval pending;
  pending.id = id;
  pending.kind = world::ApprovalKind::reload;
  pending.summary = "change of the configuration: " + what;
  pending.detail = {{"file", wanted.file.string()}, {"sha256", digest}, {"widens", std::move(list)}};
  // Commands and addresses are what the operator has to see; values of env, headers and some arguments are
  // secrets.
  json::object servers;
  for (const ServerSpec& spec : wanted.mcps)
    if (!config::find_server_widenings(current_, wanted, spec.name).empty())
      servers[spec.name] = {{"command", spec.command},
                            {"args", shown_arguments(spec)},
                            {"cwd", spec.cwd},
                            {"endpoint", spec.endpoint}};
  if (!servers.empty()) pending.detail["servers"] = std::move(servers);
  note("reload_waits", {{"id", id}, {"sha256", digest}, {"widens", what}});
  world_.approvals().add(std::move(pending),
                         [this, wanted = std::move(wanted), digest](const world::ApprovalAnswer& answer) {
                           answered(wanted, digest, answer);
                         });
}

void Reloading::answered(const config::Config& wanted, const std::string& digest,
                         const world::ApprovalAnswer& answer) {
  waiting_.clear();
  if (answer.approved) return adopt(wanted, "the operator " + answer.by, digest, WatchCause::signal);
  denied_ = digest;
  note("reload_denied", {{"by", answer.by}, {"sha256", digest}});
}

void Reloading::withdraw() {
  if (!waiting_.empty()) world_.approvals().withdraw(std::exchange(waiting_, {}));
}

void Reloading::note(std::string_view action, json::object args) {
  world::note_event(services_.loop, world_.pipeline().journal(), services_.clock, "config", action, args);
}

}  // namespace relay::app
