// Backend: what is served. The server above it knows the protocol, the backend knows the things.
//
// Two classes implement it. pipeline::GuardedBackend is what Relay serves: toolsets and upstream servers are
// its providers. mcp::Catalogue is a fixed set of handlers, for tests and the conformance server. Everything
// runs on the loop thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "authority/arguments.h"
#include "authority/caller.h"
#include "io/task.h"
#include "protocol/capabilities.h"
#include "protocol/listing.h"
#include "protocol/log_level.h"
#include "protocol/server_event.h"
#include "protocol/tool.h"
#include "serving/context.h"

namespace relay::serving {

struct Identity {
  protocol::Implementation info;
  std::string instructions;  // for the model; empty: none
  protocol::ServerCapabilities capabilities;
};

/// A tool that was found for a call. Each backend derives its own entry from it, and gets it back in
/// call_tool: the tool that the dispatcher looked at is the one that runs, and it is looked up once.
class FoundTool {
 public:
  FoundTool() = default;
  FoundTool(const FoundTool&) = default;
  FoundTool& operator=(const FoundTool&) = default;
  virtual ~FoundTool() = default;
  [[nodiscard]] virtual const protocol::Tool& tool() const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const Identity& identity() const = 0;
  /// Where the backend says what changed, for all clients. One at most; an empty one takes it back.
  virtual void set_event_sink(protocol::EventSink sink) = 0;

  /// Whole lists, in a stable order; what a caller may not see is left out.
  virtual io::Task<protocol::Listing<protocol::Tool>> list_tools(const authority::Caller& caller) = 0;
  virtual io::Task<protocol::Listing<protocol::Resource>> list_resources(const authority::Caller& caller);
  virtual io::Task<protocol::Listing<protocol::ResourceTemplate>> list_templates(
      const authority::Caller& caller);
  virtual io::Task<protocol::Listing<protocol::Prompt>> list_prompts(const authority::Caller& caller);

  /// A tool, if it is at hand; asked once for each call. Null does not mean that the tool does not exist:
  /// call_tool says that, with unknown_tool(name).
  [[nodiscard]] virtual std::shared_ptr<const FoundTool> find_tool(const authority::Caller& caller,
                                                                   std::string_view name) = 0;
  /// `found` is what find_tool of this backend gave for the name, and may be null. An Error becomes a tool
  /// result with isError unless it has a JSON-RPC form.
  virtual io::Task<protocol::ToolResult> call_tool(Context& context, std::string name,
                                                   std::shared_ptr<const FoundTool> found,
                                                   authority::Arguments arguments) = 0;

  /// An Error becomes a JSON-RPC error; `not_found` has its own code.
  virtual io::Task<protocol::ReadResult> read_resource(Context& context, std::string uri);
  virtual io::Task<protocol::PromptResult> get_prompt(Context& context, std::string name,
                                                      authority::Arguments arguments);
  virtual io::Task<protocol::Completion> complete(Context& context, protocol::CompletionRequest request);
  /// How long an answer of read_resource may be kept.
  [[nodiscard]] virtual protocol::Caching caching_of(std::string_view uri) const;

  /// Callers with the same view see the same thing under a URI, so that one watch serves them all. "" for
  /// everybody.
  [[nodiscard]] virtual std::string view_of(const authority::Caller& caller, std::string_view uri) const;
  /// The first client of a view subscribes to a URI, the last one leaves. A failure of watch refuses the
  /// subscription.
  virtual io::Task<void> watch(const authority::Caller& caller, std::string uri);
  virtual void unwatch(const authority::Caller& caller, std::string_view uri);
  /// A session is over: what was kept for it may go.
  virtual void session_ended(const authority::Caller& caller);
  /// A client wants log messages from this level on. Without effect for backends whose logs cost nothing.
  virtual void want_log_level(protocol::LogLevel level);
};

Error unknown_tool(std::string_view name);

}  // namespace relay::serving
