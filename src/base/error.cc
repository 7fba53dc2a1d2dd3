#include "base/error.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace relay {
namespace {

constexpr ErrorFace kInvalid{"ValidationError", 400, -32602, "invalid"};
constexpr ErrorFace kUnauthenticated{"Unauthenticated", 401, -32001, "denied"};
constexpr ErrorFace kDenied{"PolicyDenied", 403, -32003, "denied"};
constexpr ErrorFace kNotFound{"NotFound", 404, -32602, "invalid"};
constexpr ErrorFace kTimeout{"Timeout", 408, -32004, "timeout"};
constexpr ErrorFace kConflict{"Conflict", 409, -32602, "invalid"};
constexpr ErrorFace kTooLarge{"OutputLimitExceeded", 413, -32005, "too_large"};
constexpr ErrorFace kDependency{"DepsResolutionFailed", 424, -32006, "error"};
constexpr ErrorFace kNoExecutor{"NoExecutorAttached", 425, -32007, "error"};
constexpr ErrorFace kBusy{"TooManyRequests", 429, -32008, "busy"};
constexpr ErrorFace kCancelled{"Cancelled", 499, -32009, "cancelled"};
constexpr ErrorFace kUnavailable{"Unavailable", 503, -32010, "error"};
constexpr ErrorFace kInternal{"Internal", 500, -32603, "error"};

ErrorKind kind_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT: return ErrorKind::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorKind::denied;
    case EEXIST: return ErrorKind::conflict;
    case ETIMEDOUT: return ErrorKind::timeout;
    case ENAMETOOLONG:
    case EINVAL:
    case ENOTDIR:
    case EISDIR:
    case ELOOP: return ErrorKind::invalid;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return ErrorKind::too_large;
    default: return ErrorKind::unavailable;
  }
}

}  // namespace

const ErrorFace& face_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid: return kInvalid;
    case ErrorKind::unauthenticated: return kUnauthenticated;
    case ErrorKind::denied: return kDenied;
    case ErrorKind::not_found: return kNotFound;
    case ErrorKind::timeout: return kTimeout;
    case ErrorKind::conflict: return kConflict;
    case ErrorKind::too_large: return kTooLarge;
    case ErrorKind::dependency: return kDependency;
    case ErrorKind::no_executor: return kNoExecutor;
    case ErrorKind::busy: return kBusy;
    case ErrorKind::cancelled: return kCancelled;
    case ErrorKind::unavailable: return kUnavailable;
    case ErrorKind::internal: return kInternal;
  }
  return kInternal;
}

std::string describe(const Error& error) {
  return fmt::format("{}: {}", error.face().type, error.message);
}

Error invalid(std::string message) {
  return {ErrorKind::invalid, Blame::peer, std::move(message)};
}
Error denied(std::string message) {
  return {ErrorKind::denied, Blame::policy, std::move(message)};
}
Error not_found(std::string message) {
  return {ErrorKind::not_found, Blame::peer, std::move(message)};
}
Error timed_out(std::string message) {
  return {ErrorKind::timeout, Blame::peer, std::move(message)};
}
Error too_large(std::string message) {
  return {ErrorKind::too_large, Blame::peer, std::move(message)};
}
Error busy(std::string message) {
  return {ErrorKind::busy, Blame::environment, std::move(message)};
}
Error cancelled(std::string message) {
  return {ErrorKind::cancelled, Blame::peer, std::move(message)};
}
Error unavailable(std::string message) {
  return {ErrorKind::unavailable, Blame::environment, std::move(message)};
}
Error internal(std::string message) {
  return {ErrorKind::internal, Blame::us, std::move(message)};
}

Error from_errno(int error_number, std::string_view what) {
  char text[128];
  return {kind_of_errno(error_number), Blame::environment,
          fmt::format("{}: {}", what, strerror_r(error_number, text, sizeof text))};
}

}  // namespace relay
