// Error: what went wrong, whose fault it is, and what a person can do about it.
//
// An Error is a value. It carries a kind (the small closed set that code reacts to), a blame (who has to
// change something) and one sentence for people. One table, in error.cc, turns a kind into everything the
// outside sees: the type name in results, the HTTP status, the JSON-RPC code and the label in metrics.
// Exceptions are for what cannot happen; they are caught where a connection or a call ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace relay {

/// Who has to change something so that this does not happen again.
enum class Blame : std::uint8_t {
  peer,         // the client, guest, upstream or file that sent us something wrong
  policy,       // a rule of ours said no
  environment,  // the machine: disk full, program missing, network down
  us,           // a defect in Relay
};

/// The kinds of failure that callers tell apart. Add one only when code reacts to it differently.
enum class ErrorKind : std::uint8_t {
  invalid,          // the request does not make sense
  unauthenticated,  // no or wrong credentials
  denied,           // policy refused it
  not_found,        // the thing named does not exist
  timeout,          // a deadline passed
  conflict,         // it exists already, or changed meanwhile
  too_large,        // over a size limit
  dependency,       // packages could not be resolved or built
  no_executor,      // nothing is attached that could run this
  busy,             // a queue or a rate limit is full; try again
  cancelled,        // whoever asked no longer wants the answer
  unavailable,      // a helper process, upstream or sink is down
  internal,         // a defect
};

/// What the outside sees of a kind.
struct ErrorFace {
  std::string_view type;     // "PolicyDenied": stable name in results
  int http_status;           // 403
  int rpc_code;              // JSON-RPC error code
  std::string_view outcome;  // "denied": audit outcome and metric label
};

const ErrorFace& face_of(ErrorKind kind);

/// How an error must look as a JSON-RPC error: what an upstream server answered, or what the protocol
/// demands.
struct RpcForm {
  int code = 0;
  std::string message;
  std::string data = {};  // JSON text; empty: none
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  Blame blame = Blame::us;
  std::string message;
  /// Set: a client gets exactly this, also where other errors become part of a result. Null for most errors.
  std::shared_ptr<const RpcForm> rpc = {};

  [[nodiscard]] const ErrorFace& face() const { return face_of(kind); }
};

/// "PolicyDenied: domain not allowed: evil.test" - the form used in logs and tool results.
std::string describe(const Error& error);

// Makers for the common cases; the message says what happened and what to do next.
Error invalid(std::string message);
Error denied(std::string message);
Error not_found(std::string message);
Error timed_out(std::string message);
Error too_large(std::string message);
Error busy(std::string message);
Error cancelled(std::string message = "the request was cancelled");
Error unavailable(std::string message);
Error internal(std::string message);

/// A failed system call: the kind follows errno, the message names the operation and its object.
Error from_errno(int error_number, std::string_view what);

}  // namespace relay
