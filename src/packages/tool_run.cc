#include "packages/tool_run.h"

#include <array>

#include <boost/asio/steady_timer.hpp>

#include "base/bytes.h"

namespace relay::packages {
namespace {

namespace asio = io::asio;

constexpr std::size_t kOutputBytes = 4 * limits::kMiB;

constexpr std::array<std::string_view, 14> kKept = {"HOME",
                                                    "PATH",
                                                    "USER",
                                                    "LANG",
                                                    "LC_ALL",
                                                    "TMPDIR",
                                                    "NODE_EXTRA_CA_CERTS",
                                                    "SSL_CERT_FILE",
                                                    "SSL_CERT_DIR",
                                                    "REQUESTS_CA_BUNDLE",
                                                    "CURL_CA_BUNDLE",
                                                    "XDG_CONFIG_HOME",
                                                    "XDG_CACHE_HOME",
                                                    "VIRTUAL_ENV"};
constexpr std::array<std::string_view, 2> kKeptPrefixes = {"npm_config_", "pip_"};
constexpr std::array<std::string_view, 4> kProxies = {"http_proxy", "https_proxy", "no_proxy", "all_proxy"};

bool is_kept(std::string_view name) {
  if (std::ranges::find(kKept, name) != kKept.end()) return true;
  const std::string lower = to_lower_ascii(name);
  if (std::ranges::find(kProxies, lower) != kProxies.end()) return true;
  return std::ranges::any_of(kKeptPrefixes,
                             [&](std::string_view prefix) { return lower.starts_with(prefix); });
}

enum class Keep : std::uint8_t { head, tail };

// Reads to the end whatever happens, so that the tool never blocks on a full pipe; keeps a bounded part.
io::Task<std::string> collect(asio::posix::stream_descriptor& pipe, Keep keep) {
  std::string kept;
  std::array<char, 16 * 1024> chunk;
  for (;;) {
    boost::system::error_code error;
    const std::size_t got =
        co_await pipe.async_read_some(asio::buffer(chunk), asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
    if (error) co_return kept;
    if (keep == Keep::tail || kept.size() < kOutputBytes) kept.append(chunk.data(), got);
    if (kept.size() > 2 * kOutputBytes) kept.erase(0, kept.size() - kOutputBytes);
  }
}

io::Task<ToolOutcome> talk_to(io::Child& child) {
  std::optional<Result<std::string>> out;
  std::optional<Result<std::string>> err;
  RELAY_CO_CHECK(co_await io::both(io::store_result(collect(child.out(), Keep::head), out),
                                   io::store_result(collect(child.err(), Keep::tail), err)));
  RELAY_CO_TRY(const io::ExitStatus status, co_await child.wait());
  ToolOutcome outcome{status, std::move(*out).value_or(""), std::move(*err).value_or("")};
  co_return outcome;
}

io::Task<ToolOutcome> start_and_talk(ToolCall call) {
  io::ChildSpec spec{.program = call.program,
                     .args = std::move(call.args),
                     .environment = std::move(call.environment),
                     .directory = call.directory,
                     .in = io::Stdio::null};
  auto child = io::Child::spawn(co_await asio::this_coro::executor, spec);
  if (!child)
    co_return fail(dependency_error(fmt::format("cannot run '{}': {}. Install it, or put it on PATH.",
                                                call.program, child.error().message)));
  co_return co_await talk_to(*child);
}

// Never returns: it is cancelled when there is nothing more to report.
io::Task<void> report_progress(std::string phase, Progress progress) {
  const auto begin = std::chrono::steady_clock::now();
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (auto wait = std::chrono::seconds(1);; wait = std::chrono::seconds(2)) {
    timer.expires_after(wait);
    co_await timer.async_wait(asio::use_awaitable);
    progress(phase,
             std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin));
  }
}

// A tool that installs reaches the network and leaves files; one that bundles works on what is there.
authority::SideEffect effect_of(const ToolCall& call) {
  authority::SideEffect effect{
      .tool = "process",
      .tier = call.packages.empty() ? authority::Tier::reversible : authority::Tier::stateful,
      .target = {{"phase", call.phase}}};
  if (!call.packages.empty()) effect.target["packages"] = call.packages;
  return effect;
}

}  // namespace

asio::awaitable<void> report_while(io::Task<void> task, std::string phase, Progress progress) {
  co_await io::race(std::move(task), report_progress(std::move(phase), std::move(progress)));
}

Error dependency_error(std::string message) {
  return {ErrorKind::dependency, Blame::environment, std::move(message)};
}

Environment tool_environment(const Environment& all) {
  Environment kept;
  for (const auto& [name, value] : all)
    if (is_kept(name)) kept.emplace(name, value);
  return kept;
}

io::Task<ToolOutcome> run_tool(EffectsPtr effects, ToolCall call, Progress progress) {
  const std::string phase = call.phase;
  authority::SideEffect effect = effect_of(call);
  const auto timeout = call.timeout;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
  auto work = with_progress(start_and_talk(std::move(call)), phase, std::move(progress));
  auto outcome = co_await io::with_timeout(std::move(work), timeout,
                                           fmt::format("{} took longer than {} s", phase, seconds));
  if (!outcome || !outcome->status.clean()) {
    effect.ending = outcome ? authority::Ending::error : authority::ending_of(outcome.error().kind);
    effect.reason = outcome ? phase + " failed" : outcome.error().message;
  }
  effects->add(std::move(effect));
  if (!outcome && outcome.error().kind == ErrorKind::timeout)
    co_return fail(dependency_error(outcome.error().message));
  co_return outcome;
}

}  // namespace relay::packages
