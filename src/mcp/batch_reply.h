// JSON-RPC batches, which only revision 2025-03-26 has: many requests in, one array of answers out.
#pragma once

#include <memory>

#include "mcp/legacy_dispatcher.h"
#include "mcp/reply.h"
#include "protocol/jsonrpc.h"

namespace relay::mcp {

/// Runs the messages of a batch; `out` gets what the requests send, and one array when all of them are
/// answered. False when there is nothing to answer.
bool handle_batch(LegacyDispatcher& dispatcher, const std::shared_ptr<Session>& session,
                  protocol::Incoming incoming, std::shared_ptr<Reply> out);

}  // namespace relay::mcp
