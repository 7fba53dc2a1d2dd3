#include "authority/outcome.h"

#include "base/digest.h"

namespace relay::authority {

std::string_view name(Ending ending) {
  switch (ending) {
    case Ending::ok: return "ok";
    case Ending::error: return "error";
    case Ending::denied: return "denied";
    case Ending::confirm_required: return "confirm_required";
    case Ending::invalid: return "invalid";
    case Ending::timeout: return "timeout";
    case Ending::too_large: return "too_large";
    case Ending::busy: return "busy";
    case Ending::cancelled: return "cancelled";
  }
  return "";
}

Ending ending_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid:
    case ErrorKind::not_found:
    case ErrorKind::conflict: return Ending::invalid;
    case ErrorKind::unauthenticated:
    case ErrorKind::denied: return Ending::denied;
    case ErrorKind::timeout: return Ending::timeout;
    case ErrorKind::too_large: return Ending::too_large;
    case ErrorKind::busy: return Ending::busy;
    case ErrorKind::cancelled: return Ending::cancelled;
    case ErrorKind::dependency:
    case ErrorKind::no_executor:
    case ErrorKind::unavailable:
    case ErrorKind::internal: return Ending::error;
  }
  return Ending::error;
}

Outcome make_outcome(Ending ending, std::string_view output, std::optional<int> exit_code) {
  Outcome outcome;
  outcome.ending = ending;
  outcome.output_sha256 = sha256_hex(output);
  outcome.output_bytes = output.size();
  outcome.exit_code = exit_code;
  return outcome;
}

}  // namespace relay::authority
