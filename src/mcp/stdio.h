// MCP on two pipes: one JSON message a line, both eras on the same connection, many requests in flight.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>

#include "authority/caller.h"
#include "io/task.h"
#include "mcp/server.h"

namespace relay::mcp {

/// Runs until the input ends, then cancels what is still running and returns when the output is flushed.
io::Task<void> serve_stdio(Server& server, io::asio::posix::stream_descriptor& in,
                           io::asio::posix::stream_descriptor& out, authority::Caller caller);

}  // namespace relay::mcp
