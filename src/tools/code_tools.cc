#include "tools/code_tools.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "codemode/inner_context.h"

namespace relay::tools {
namespace {

using executors::Language;
using protocol::ToolResult;

// The same few words whatever servers there are: what they offer is found by asking, and costs nobody else.
constexpr std::string_view kJsDescription =
    "Run JavaScript (ES module, top-level await) in a fresh sandbox; returns stdout, stderr, the last "
    "expression's value. Files: /tmp, /out "
    "(kept as artifacts), /host/<mount>. display(path|bytes) returns an image. fetch for allowed hosts. "
    "MCP servers: await mcp.<server>.<tool>({...}); mcp.search(\"words\") and /mcps find tools.";
constexpr std::string_view kPyDescription =
    "Like run_js, in Python 3.14. MCP servers: mcp_<server>.<tool>(...); "
    "mcp.runtime.search_tool_docs_sync(\"words\").";

// Passes output on while the run goes on: as progress where the client asked for it, as log messages where it
// listens.
class StreamingObserver final : public executors::RunObserver {
 public:
  StreamingObserver(mcp::Context& context, Language language)
      : context_(context), logger_(fmt::format("run_{}", executors::name_of(language))) {}

  void on_stdout(std::string_view bytes) override { pass_on("stdout", bytes); }
  void on_stderr(std::string_view bytes) override { pass_on("stderr", bytes); }
  void on_progress(std::string_view text) override { context_.progress(++steps_, {}, text); }

 private:
  void pass_on(std::string_view stream, std::string_view bytes) {
    const std::string text = to_valid_utf8(utf8_prefix(bytes, limits::kStreamedBytes));
    context_.progress(++steps_, {}, text);
    context_.log(protocol::LogLevel::info, logger_, json::object{{"stream", stream}, {"text", text}});
  }

  mcp::Context& context_;
  std::string logger_;
  double steps_ = 0;
};

executors::RunRequest make_request(const CodeWorld& world, SealedRun sealed, CodeRun run,
                                   const RunPolicy& policy) {
  executors::RunRequest request;
  request.run_id = make_id(world.random, "run_");
  request.principal = run.principal;
  request.capsule = std::move(sealed.capsule);
  request.key = std::move(sealed.key);
  request.stdin_bytes = std::move(run.arguments.stdin_text);
  if (!run.arguments.session.empty())
    request.session = executors::SessionKey{run.principal, run.arguments.session};
  request.stdin_live = static_cast<bool>(run.read_input);
  request.session_start = run.arguments.session_start;
  request.limits = policy.run_limits();
  if (run.arguments.timeout)
    request.limits.timeout = std::min(request.limits.timeout, *run.arguments.timeout);
  return request;
}

capsule::BuildRequest make_build(const CodeRun& run, const RunPolicy& policy,
                                 std::optional<capsule::DepsLayer> packages) {
  return {.language = run.language,
          .code = run.arguments.code,
          .argv = run.arguments.args,
          .env = run.arguments.env,
          .cwd = run.arguments.cwd,
          .policy = policy.to_json(),
          .deps = std::move(packages),
          .file_name = run.file_name};
}

// A call that brings its own filesystem block sees less of the same tree.
Result<std::shared_ptr<vfs::Tree>> open_tree(const CodeWorld& world, const CodeRun& run,
                                             const RunPolicy& policy) {
  RELAY_TRY(std::shared_ptr<vfs::Tree> tree, world.trees.open_tree({run.principal, run.client_session}));
  if (!json::find_object(run.arguments.policy, "filesystem")) return tree;
  RELAY_TRY(vfs::PathPolicy narrower,
            vfs::PathPolicy::parse({policy.filesystem.readonly, policy.filesystem.writable}));
  return std::make_shared<vfs::Tree>(tree->narrowed(std::move(narrower)));
}

std::shared_ptr<GuardedNetwork> make_network(const CodeWorld& world, const authority::Recorded& recorded,
                                             const RunPolicy& policy) {
  fetch::FetchOptions options;
  if (world.on_refusal)
    options.on_refusal = [report = world.on_refusal, call = recorded.call(), nth = std::size_t{0}](
                             const fetch::BlockedFetch& refusal) mutable { report(refusal, call, ++nth); };
  return std::make_shared<GuardedNetwork>(
      world.loop, fetch::GuardedFetch::make(world.loop, world.http, fetch::rules_from(policy.network),
                                            std::move(options)));
}

io::Task<std::optional<capsule::DepsLayer>> resolve_packages(const CodeWorld& world, const CodeRun& run,
                                                             std::shared_ptr<GuardedNetwork> network,
                                                             executors::RunObserver& observer) {
  auto fetch_wheel = [network](std::string url) { return network->fetch_bytes(std::move(url)); };
  auto report = [&observer](std::string_view phase, std::chrono::milliseconds elapsed) {
    observer.on_progress(
        fmt::format("{} ({} s)", phase, std::chrono::duration_cast<std::chrono::seconds>(elapsed).count()));
  };
  co_return co_await world.packages.resolve(run.language, run.arguments.packages, run.arguments.code,
                                            std::move(fetch_wheel), std::move(report));
}

io::Task<ToolResult> call_code_tool(std::shared_ptr<const CodeWorld> world, Language language,
                                    mcp::Context& context, const authority::Recorded& recorded) {
  const json::object& arguments = recorded.call().args.as_object();
  const authority::Caller& caller = recorded.call().caller;
  CodeRun run{.language = language,
              .arguments = read_code_arguments(arguments, language),
              .principal = caller.principal,
              .client_session = caller.session_id,
              .context = &context};
  if (run.arguments.executor == "browser")
    co_return fail(Error{ErrorKind::no_executor, Blame::environment,
                         "no browser tab is attached; leave \"executor\" out to run here"});
  StreamingObserver observer(context, language);
  RELAY_CO_TRY(const FinishedRun finished, co_await run_code(*world, recorded, std::move(run), observer));
  co_return run_result(finished);
}

// Code becomes a capsule here; one that was sealed before stays what it is.
io::Task<SealedRun> seal(const CodeWorld& world, const CodeRun& run, const RunPolicy& policy,
                         std::shared_ptr<GuardedNetwork> network, executors::RunObserver& observer) {
  if (run.sealed) co_return *run.sealed;
  RELAY_CO_TRY(std::optional<capsule::DepsLayer> packages,
               co_await resolve_packages(world, run, std::move(network), observer));
  RELAY_CO_TRY(capsule::Capsule built, world.capsules.build(make_build(run, policy, std::move(packages))));
  if (world.keep_capsule) world.keep_capsule(built);
  co_return SealedRun{std::move(built), world.capsules.keys().current().public_key().spki_base64()};
}

protocol::Tool describe_tool(Language language) {
  const bool js = language == Language::js;
  protocol::Tool tool;
  tool.name = js ? "run_js" : "run_py";
  tool.description = js ? kJsDescription : kPyDescription;
  tool.input_schema = protocol::JsonText::trusted(std::string(code_input_schema(language)));
  tool.output_schema = protocol::JsonText::trusted(std::string(code_output_schema()));
  tool.annotations.destructive = false;
  return tool;
}

}  // namespace

namespace {

/// The servers of one run. However the run ends, whatever still comes from its guest finds them closed.
class OpenServers {
 public:
  static Result<OpenServers> open(const CodeWorld& world, const authority::Recorded& recorded,
                                  const CodeRun& run) {
    OpenServers opened;
    if (!world.code_mode) return opened;
    mcp::Context* context = run.context;
    if (!context) {
      opened.bare_ = std::make_shared<codemode::BareContext>(recorded.call().caller, world.loop);
      context = opened.bare_.get();
    }
    RELAY_TRY(opened.servers_,
              world.code_mode->open_run(*context, recorded.call().request_id, run.arguments.servers));
    return opened;
  }
  OpenServers(OpenServers&&) = default;
  OpenServers& operator=(OpenServers&&) = delete;
  ~OpenServers() {
    if (servers_) servers_->close();
  }
  [[nodiscard]] const std::shared_ptr<codemode::RunServers>& servers() const { return servers_; }
  [[nodiscard]] json::array listing() const { return servers_ ? servers_->listing() : json::array(); }

 private:
  OpenServers() = default;
  std::shared_ptr<codemode::BareContext> bare_;
  std::shared_ptr<codemode::RunServers> servers_;
};

}  // namespace

io::Task<FinishedRun> run_code(const CodeWorld& world, const authority::Recorded& recorded, CodeRun run,
                               executors::RunObserver& observer) {
  RELAY_CO_TRY(NarrowedPolicy narrowed, narrow(world.policy, run.arguments.policy));
  RELAY_CO_TRY(std::shared_ptr<vfs::Tree> tree, open_tree(world, run, narrowed.policy));
  auto network = make_network(world, recorded, narrowed.policy);
  RELAY_CO_TRY(SealedRun sealed, co_await seal(world, run, narrowed.policy, network, observer));
  RELAY_CO_TRY(const OpenServers servers, OpenServers::open(world, recorded, run));
  auto host = std::make_shared<RunHost>(world.pool, std::move(tree), std::move(network), servers.servers());
  host->set_input(run.read_input);
  executors::RunRequest request = make_request(world, std::move(sealed), std::move(run), narrowed.policy);
  request.servers = servers.listing();
  FinishedRun finished;
  finished.run_id = request.run_id;
  finished.notes = std::move(narrowed.notes);
  RELAY_CO_TRY(finished.outcome, co_await world.local.run(recorded, std::move(request), host, observer));
  if (!finished.outcome.session_note.empty()) finished.notes.push_back(finished.outcome.session_note);
  RELAY_CO_TRY(finished.artifacts, co_await host->artifacts());
  finished.displayed = host->take_displayed();
  co_return finished;
}

Result<void> add_code_tools(pipeline::Toolset& toolset, std::shared_ptr<const CodeWorld> world) {
  for (const Language language : {Language::js, Language::py}) {
    pipeline::GuardedTool guarded;
    guarded.tool = describe_tool(language);
    guarded.tier = authority::Tier::reversible;
    guarded.policy_text = code_policy_text;
    guarded.handler = [world, language](mcp::Context& context, const authority::Recorded& recorded) {
      return call_code_tool(world, language, context, recorded);
    };
    RELAY_CHECK(toolset.add_tool(std::move(guarded)));
  }
  return {};
}

}  // namespace relay::tools
