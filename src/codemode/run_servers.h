// RunServers: the upstream servers as one run sees them. Guests ask through it what there is and call what
// they found; each call goes through the pipeline as a call of its own, with the run as its parent.
//
// Operations take and give JSON: what travels between a guest and relay (docs/formats/worker_wire.md).
//
//   mcp.call {server, tool, arguments}          the whole CallToolResult
//   mcp.servers {}                              {servers:[{name, alias, description, loaded, state}]}
//   mcp.tools {server, detail?}                 {tools:[{name, alias, description, inputSchema,
//   outputSchema?}]}; detail "names": the first two mcp.describe {server, tool?}                one tool with
//   schemas and declarations, or a server with its tools mcp.search {query, limit?, server?, detail?}
//   {results:[...], missing?:[...]}
//
// Loop thread only. It outlives the run while calls of it unwind; the context of the run is held by each of
// them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codemode/learned_types.h"
#include "codemode/tool_catalogs.h"
#include "io/event.h"
#include "pipeline/guarded_backend.h"
#include "serving/context.h"

namespace relay::codemode {

/// Told when a result taught something about a tool's output.
using OnLearned = std::function<void(const std::string& server)>;

/// What runs share.
struct RunWorld {
  io::Loop executor;
  ToolCatalogs& books;
  pipeline::GuardedBackend& backend;
  LearnedTypes& learned;
  OnLearned on_learned;
  bool require_servers = false;  // policy.requireServers
};

class RunServers {
 public:
  /// `named` is what the call says in `servers`; nothing: all that the configuration gives to code, or none
  /// where the policy wants them named. Fails when a name is unknown, with the names there are. `run` is the
  /// request id of the run.
  static Result<std::shared_ptr<RunServers>> open(std::shared_ptr<const RunWorld> world,
                                                  serving::Context& context, std::string run,
                                                  const std::optional<std::vector<std::string>>& named);

  /// For the guest, at the start of the run: [{name, alias, description}].
  [[nodiscard]] json::array listing() const;

  static bool handles(std::string_view op) { return op.starts_with("mcp."); }
  /// One operation. `args_text` is the text that args were parsed from; arguments of tools are passed on from
  /// there, byte for byte.
  io::Task<std::string> perform(std::string op, json::object args, std::string args_text);

  /// The run is over: whatever still comes for it is refused. Its context may go.
  void close() { context_ = nullptr; }

 private:
  RunServers(std::shared_ptr<const RunWorld> world, serving::Context& context, std::string run)
      : world_(std::move(world)), context_(&context), run_(std::move(run)), freed_(world_->executor) {}

  io::Task<std::string> call(json::object args, std::string args_text);
  io::Task<std::string> call_entry(CodeServer server, std::shared_ptr<const ToolCatalog> book,
                                   const ToolDoc& tool, authority::Arguments arguments);
  io::Task<std::string> tools(json::object args);
  io::Task<std::string> describe(json::object args);
  io::Task<std::string> search(json::object args);
  std::string servers();

  /// Loaded in this run, by name or alias.
  [[nodiscard]] Result<CodeServer> find_loaded(std::string_view name) const;
  /// Any that code may know of: discovery is not limited to what a run has loaded.
  [[nodiscard]] Result<CodeServer> find_any(std::string_view name) const;
  [[nodiscard]] bool is_loaded(std::string_view name) const;
  io::Task<std::shared_ptr<const ToolCatalog>> book_with(CodeServer server, std::string_view tool);
  io::Task<void> take_slot();
  void learn(const ToolCatalog& book, const ToolDoc& tool, const protocol::ToolResult& result);

  std::shared_ptr<const RunWorld> world_;
  serving::Context* context_;  // null once the run is over
  std::string run_;
  std::vector<CodeServer> loaded_;
  bool named_ = false;
  std::size_t in_flight_ = 0;
  io::Event freed_;
};

}  // namespace relay::codemode
