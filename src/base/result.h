// Result<T>: a value or an Error, for everything that can happen. What cannot happen is an exception, which a
// connection or a call catches at its end. The macros hand an error up, in plain functions and in coroutines;
// each evaluates its expression once.
#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace relay {

template <class T = void>
using Result = std::expected<T, Error>;

/// `return fail(denied("..."));` reads as what it is.
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}

}  // namespace relay

#define RELAY_CONCAT_INNER(a, b) a##b
#define RELAY_CONCAT(a, b) RELAY_CONCAT_INNER(a, b)

#define RELAY_TRY_IMPL(leave, holder, declaration, ...)                        \
  auto&& holder = __VA_ARGS__;                                                 \
  if (!holder) leave std::unexpected<relay::Error>(std::move(holder).error()); \
  declaration = *std::move(holder)

/// RELAY_TRY(auto bytes, read_all(fd));  - declares bytes, or returns the error.
#define RELAY_TRY(declaration, ...) \
  RELAY_TRY_IMPL(return, RELAY_CONCAT(relay_try_, __LINE__), declaration, __VA_ARGS__)
/// The same inside a coroutine: RELAY_CO_TRY(auto reply, co_await client.call(request));
#define RELAY_CO_TRY(declaration, ...) \
  RELAY_TRY_IMPL(co_return, RELAY_CONCAT(relay_try_, __LINE__), declaration, __VA_ARGS__)

/// RELAY_CHECK(validate(x));  - returns the error, if there is one, of something that has no value.
#define RELAY_CHECK(...)                                                     \
  do {                                                                       \
    if (auto&& relay_check_ = __VA_ARGS__; !relay_check_)                    \
      return std::unexpected<relay::Error>(std::move(relay_check_).error()); \
  } while (false)
#define RELAY_CO_CHECK(...)                                                     \
  do {                                                                          \
    if (auto&& relay_check_ = __VA_ARGS__; !relay_check_)                       \
      co_return std::unexpected<relay::Error>(std::move(relay_check_).error()); \
  } while (false)
