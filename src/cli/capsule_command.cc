#include "cli/capsule_command.h"

#include <iostream>

#include <fmt/format.h>

#include "cli/package_block.h"
#include "io/run_loop.h"
#include "io/spawn.h"
#include "policy/run_policy.h"
#include "runs/run_network.h"
#include "tools/code_arguments.h"
#include "world/package_options.h"
#include "world/world.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 64;

Result<std::map<std::string, std::string>> variables(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> env;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(invalid(fmt::format("--env {}: write NAME=VALUE", text)));
    env[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return env;
}

void report_progress(std::string_view phase, std::chrono::milliseconds elapsed) {
  fmt::print(stderr, "{} ({} s)\n", phase, std::chrono::duration_cast<std::chrono::seconds>(elapsed).count());
}

using Layer = std::optional<capsule::DepsLayer>;

// Installing is an effect like any other: judged and recorded as a call of its own.
class Resolution {
 public:
  Resolution(const config::Config& config, Log& log) : config_(config), process_(log) {}

  Result<Layer> run(capsule::Language language, json::object requested, std::string code) {
    config::Config only_code = config_;
    only_code.toolsets = {"code"};
    RELAY_TRY(world_, world::World::build(only_code, world::Purpose::run, process_.view()));
    Result<Layer> layer = fail(cancelled());
    auto body = [&]() -> io::Task<void> {
      layer = co_await resolve(language, std::move(requested), std::move(code));
      const auto stopped = co_await world_->stop();
      process_.context().stop();
      co_return stopped;
    };
    io::spawn(process_.loop(), body(), "resolve dependencies");
    io::run_loop(process_.context());
    return layer;
  }

  /// Ends the process, once there was a run().
  void leave(int exit_code) {
    if (world_) world_->leave(exit_code);
  }

 private:
  authority::Call make_call(capsule::Language language, const json::object& requested,
                            const std::string& code) {
    authority::Call call;
    call.request_id = world_->ids().make("req_");
    call.caller.principal = "local";
    call.caller.client_name = "relay capsule build";
    call.caller.transport = authority::Transport::internal;
    call.toolset = "code";
    call.tool = "capsule_build";
    json::object args{{language == capsule::Language::js ? "npm" : "pip", requested}, {"code", code}};
    call.tier = tools::code_tier(args);
    call.policy_text = tools::code_policy_text(args);
    call.fields = tools::code_fields(args);
    call.args = std::move(args);
    return call;
  }

  io::Task<Layer> resolve(capsule::Language language, json::object requested, std::string code) {
    Layer layer;
    pipeline::Work<protocol::ToolResult> work =
        [&](const authority::Recorded& recorded) -> io::Task<protocol::ToolResult> {
      runs::RunDependencies& code_world = world_->runs();
      const auto fetch =
          fetch::GuardedFetch::make(recorded, code_world.loop, code_world.http,
                                    fetch::rules_from(code_world.policy.network), fetch::FetchOptions{});
      const auto network = std::make_shared<runs::GuardedNetwork>(code_world.loop, fetch);
      auto fetch_wheel = [network](std::string url) { return network->fetch_bytes(std::move(url)); };
      packages::InstallRules rules{.denied = code_world.policy.network.denied, .allowed = {}};
      RELAY_CO_TRY(layer,
                   co_await code_world.packages.resolve(recorded, language, requested, code, std::move(rules),
                                                        std::move(fetch_wheel), report_progress));
      co_return protocol::ToolResult::text("resolved");
    };
    pipeline::NobodyToAsk nobody;
    pipeline::Conditions conditions{nobody, limits::kResultBytes, {}};
    RELAY_CO_TRY(const protocol::ToolResult result,
                 co_await world_->pipeline().run<protocol::ToolResult>(
                     make_call(language, requested, code), std::move(conditions), std::move(work)));
    if (!result.is_error) co_return layer;
    const auto* text = std::get_if<protocol::TextContent>(&result.content.front());
    co_return fail(denied(text ? text->text : "the policy refuses to install packages"));
  }

  const config::Config& config_;
  world::SystemServices process_;
  std::unique_ptr<world::World> world_;
};

bool has_packages(const packages::PackageOptions& options, const json::object& requested,
                  capsule::Language language) {
  return !requested.empty() ||
         !(language == capsule::Language::js ? options.configured_npm : options.configured_pip).empty();
}

Result<capsule::CapsuleBuildOptions> build_options(const config::Config& config,
                                                   const CommandOptions& options, Resolution& resolution) {
  capsule::CapsuleBuildOptions build{.source = options.script,
                                     .output = options.output,
                                     .keys = config.signing_key_path,
                                     .argv = options.script_args,
                                     .cwd = options.capsule_cwd};
  RELAY_TRY(build.env, variables(options.capsule_env));
  const policy::RunPolicy& policy = config.policy.run;
  build.policy = policy.to_json();
  RELAY_TRY(const capsule::Language language, capsule::language_of(options.script));
  json::object requested = package_block(options, language);
  RELAY_TRY(const packages::PackageOptions configured, world::package_options(config));
  if (!has_packages(configured, requested, language)) return build;
  RELAY_TRY(std::string code, capsule::load_source(options.script));
  RELAY_TRY(build.deps, resolution.run(language, std::move(requested), std::move(code)));
  return build;
}

bool is_hash(std::string_view name) {
  return name.size() == kHashDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

capsule::CapsuleReadOptions capsule_to_read(const config::Config& config, const fs::path& named) {
  std::error_code error;
  const bool stored = is_hash(named.string()) && !fs::exists(named, error);
  return {.directory = stored ? config.cache_dir / named : named, .keys = config.signing_key_path};
}

int run_capsule_build(const config::Config& config, const CommandOptions& options, Log& log) {
  Resolution resolution(config, log);
  const auto build = build_options(config, options, resolution);
  const int exit_code = build ? capsule::run_capsule_build(*build, std::cout, std::cerr) : 2;
  if (!build) std::cerr << "relay: " << describe(build.error()) << "\n";
  std::cout.flush();
  resolution.leave(exit_code);
  return exit_code;
}

int run_capsule_command(const config::Config& config, const CommandOptions& options) {
  const capsule::CapsuleReadOptions read = capsule_to_read(config, options.capsule);
  if (options.command == Command::capsule_inspect)
    return capsule::run_capsule_inspect(read, std::cout, std::cerr);
  return capsule::run_capsule_verify(read, std::cout, std::cerr);
}

}  // namespace relay::cli
