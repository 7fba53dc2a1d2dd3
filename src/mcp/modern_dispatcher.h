// The modern era above any transport. Each request stands alone: its envelope says who asks, in which
// revision, and what the client can do.
#pragma once

#include <memory>

#include "authority/caller.h"
#include "mcp/reply.h"
#include "mcp/server.h"
#include "protocol/jsonrpc.h"
#include "protocol/modern_envelope.h"
#include "protocol/modern_headers.h"

namespace relay::mcp {

class ModernDispatcher {
 public:
  explicit ModernDispatcher(Server& server) : server_(server) {}

  /// Answers at once or later, through the reply. `headers` is null where the transport has none (stdio).
  void handle(authority::Caller caller, protocol::Request request, std::shared_ptr<Reply> reply,
              const protocol::FindHeader* headers);

 private:
  struct Incoming {
    authority::Caller caller;
    protocol::ModernEnvelope envelope;
    protocol::Request request;
    std::shared_ptr<Reply> reply;
  };
  std::string discover() const;
  void listen(Incoming incoming);
  void call(Incoming incoming, const protocol::FindHeader* headers);
  void resume(Incoming incoming, std::string_view state);
  void handle_task(Incoming incoming);
  std::optional<protocol::RpcError> check_tool(Incoming& incoming, const protocol::Tool& tool,
                                               const protocol::FindHeader* headers) const;

  Server& server_;
};

}  // namespace relay::mcp
