// Task<T>: a coroutine on the event loop that ends with a Result<T>.
//
// There is one loop thread. Everything that is not explicitly handed to the ThreadPool runs on it, so
// loop-side state needs no locks. Cancellation unwinds: a cancelled coroutine sees its pending operation
// throw operation_aborted, destructors clean up, and whoever spawned it (a call, a connection) catches it.
// Code that must still await something while being cancelled does so in its own spawned task, see spawn.h.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/result.h"

namespace relay::io {

namespace asio = boost::asio;

template <class T = void>
using Task = asio::awaitable<Result<T>>;

using Loop = asio::any_io_executor;

}  // namespace relay::io
