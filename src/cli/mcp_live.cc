#include "cli/mcp_live.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/logging.h"
#include "app/signals.h"
#include "base/nearest_name.h"
#include "cli/mcp_command.h"
#include "io/spawn.h"

namespace relay::cli {
namespace {

namespace asio = io::asio;

std::string suggestion(const config::Config& config, const std::string& name) {
  std::vector<std::string> known;
  for (const upstream::ServerSpec& spec : config.mcps) known.push_back(spec.name);
  const std::string near = nearest_name(name, known);
  return near.empty() ? "`relay mcp list` shows the ones that are"
                      : fmt::format("did you mean \"{}\"?", near);
}

io::Task<void> run_body(world::World& world, asio::io_context& loop,
                        std::function<io::Task<int>(world::World&)> body, int& exit_code) {
  const auto ended = co_await body(world);
  if (!ended) fmt::print(stderr, "relay: {}\n", ended.error().message);
  exit_code = ended.value_or(1);
  const auto stopped = co_await world.stop();
  loop.stop();
  co_return stopped;
}

io::Task<void> stop_on_signal(world::World& world, asio::io_context& loop, int& exit_code) {
  RELAY_CO_TRY(const int signal, co_await app::wait_for_stop_signal(loop.get_executor()));
  exit_code = 128 + signal;
  const auto stopped = co_await world.stop();
  loop.stop();
  co_return stopped;
}

}  // namespace

Result<std::vector<upstream::ServerSpec>> pick_servers(const config::Config& config,
                                                       const std::vector<std::string>& names,
                                                       Disabled disabled) {
  std::vector<upstream::ServerSpec> picked;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(config.mcps, name, &upstream::ServerSpec::name);
    if (found == config.mcps.end())
      return fail(not_found(fmt::format("there is no server \"{}\"; {}", name, suggestion(config, name))));
    if (!found->enabled && disabled == Disabled::refused)
      return fail(invalid(fmt::format("{} is disabled: relay mcp enable {}", name, name)));
    picked.push_back(*found);
  }
  if (names.empty())
    std::ranges::copy_if(config.mcps, std::back_inserter(picked), &upstream::ServerSpec::enabled);
  return picked;
}

Error final_error(const upstream::Upstream& server, Error error) {
  const upstream::Status status = server.status();
  if (status.phase == upstream::ServerPhase::failed && !status.reason.empty())
    error.message = fmt::format("server {} failed: {}", server.spec().name, status.reason);
  return error;
}

std::string waiting_text(const upstream::Upstream& server) {
  const upstream::Status status = server.status();
  const std::string last = status.stderr_tail.empty() ? "" : ": " + status.stderr_tail.back();
  return fmt::format("{} ({}){}", server.spec().name, upstream::name_of(status.phase), last);
}

void run_with_servers(const config::Config& config, std::vector<upstream::ServerSpec> servers,
                      std::function<io::Task<int>(world::World&)> body) {
  const SystemClock clock;
  const std::unique_ptr<Log> log =
      app::make_stderr_log(clock, app::resolve_log_format(config.log_format), LogLevel::error);
  world::SystemServices process(*log);
  asio::io_context& loop = process.context();
  config::Config own = config;
  own.toolsets.clear();
  own.mcps = std::move(servers);
  for (upstream::ServerSpec& spec : own.mcps) {
    spec.enabled = true;  // pick_servers has judged that
    spec.autostart = false;
  }
  auto world = world::World::build(own, world::Purpose::run, process.view());
  if (!world) std::exit(say_error(world.error()));
  int exit_code = 1;
  io::spawn(loop.get_executor(), run_body(**world, loop, std::move(body), exit_code), "mcp");
  io::spawn(loop.get_executor(), stop_on_signal(**world, loop, exit_code), "signals");
  loop.run();
  (*world)->leave(exit_code);
}

}  // namespace relay::cli
