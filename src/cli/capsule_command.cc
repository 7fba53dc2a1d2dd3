#include "cli/capsule_command.h"

#include <iostream>

#include <fmt/format.h>
#include <boost/asio/io_context.hpp>

#include "app/package_options.h"
#include "cli/package_block.h"
#include "io/spawn.h"
#include "policy/run_policy.h"
#include "runs/run_network.h"

namespace relay::cli {
namespace {

namespace asio = io::asio;
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

// One resolution, on a loop of its own.
class Resolution {
 public:
  Resolution(const config::Config& config, const CommandOptions& options, const policy::RunPolicy& policy)
      : config_(config), options_(options), policy_(policy) {}

  Result<std::optional<capsule::DepsLayer>> run(capsule::Language language, const std::string& code) {
    Result<std::optional<capsule::DepsLayer>> layer = fail(cancelled());
    auto body = [&]() -> io::Task<void> {
      layer = co_await resolve(language, code);
      loop_.stop();
      co_return Result<void>{};
    };
    io::spawn(loop_.get_executor(), body(), "resolve dependencies");
    loop_.run();
    return layer;
  }

 private:
  io::Task<std::optional<capsule::DepsLayer>> resolve(capsule::Language language, std::string code) {
    RELAY_CO_TRY(packages::PackageOptions options, app::package_options(config_));
    RELAY_CO_TRY(const auto packages, packages::Packages::make(std::move(options), pool_, clock_));
    const auto fetch =
        fetch::GuardedFetch::make(loop_.get_executor(), *http_, fetch::rules_from(policy_.network), {});
    const auto network = std::make_shared<runs::GuardedNetwork>(loop_.get_executor(), fetch);
    auto fetch_wheel = [network](std::string url) { return network->fetch_bytes(std::move(url)); };
    co_return co_await packages->resolve(language, package_block(options_, language), code,
                                         std::move(fetch_wheel), report_progress);
  }

  const config::Config& config_;
  const CommandOptions& options_;
  const policy::RunPolicy& policy_;
  SystemClock clock_;
  asio::io_context loop_{1};
  io::ThreadPool pool_{1};
  std::unique_ptr<net::HttpClient> http_ = net::HttpClient::make(loop_.get_executor());
};

Result<capsule::CapsuleBuildOptions> build_options(const config::Config& config,
                                                   const CommandOptions& options) {
  capsule::CapsuleBuildOptions build{.source = options.script,
                                     .output = options.output,
                                     .keys = config.signing_key_path,
                                     .argv = options.script_args,
                                     .cwd = options.capsule_cwd};
  RELAY_TRY(build.env, variables(options.capsule_env));
  const policy::RunPolicy& policy = config.policy.run;
  build.policy = policy.to_json();
  RELAY_TRY(const capsule::Language language, capsule::language_of(options.script));
  RELAY_TRY(const std::string code, capsule::load_source(options.script));
  RELAY_TRY(build.deps, Resolution(config, options, policy).run(language, code));
  return build;
}

int run_build(const config::Config& config, const CommandOptions& options) {
  const auto build = build_options(config, options);
  if (build) return capsule::run_capsule_build(*build, std::cout, std::cerr);
  std::cerr << "relay: " << describe(build.error()) << "\n";
  return 2;
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

int run_capsule_command(const config::Config& config, const CommandOptions& options) {
  if (options.command == Command::capsule_build) return run_build(config, options);
  const capsule::CapsuleReadOptions read = capsule_to_read(config, options.capsule);
  if (options.command == Command::capsule_inspect)
    return capsule::run_capsule_inspect(read, std::cout, std::cerr);
  return capsule::run_capsule_verify(read, std::cout, std::cerr);
}

}  // namespace relay::cli
