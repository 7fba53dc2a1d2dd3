// Runs the event loop of a server.
//
// Waking a sleeping thread costs more than many of our calls do. Where events follow each other closely (a
// client that calls again and again, a server that answers at once) the loop looks for the next event for a
// moment before it sleeps; as soon as that was in vain, it sleeps at once again, until a wait turns out to be
// short. While it looks it yields, so on a busy machine others have the processor; with one processor it
// never looks.
#pragma once

#include <boost/asio/io_context.hpp>

namespace relay::io {

/// Like io_context::run: until there is no work left, or the loop is stopped.
void run_loop(boost::asio::io_context& loop);

}  // namespace relay::io
