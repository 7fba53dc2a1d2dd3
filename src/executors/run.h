// A run as values: what to run, what it may ask of us meanwhile, and how it ended. Every executor speaks in
// these, on this machine or in a browser tab. HostCalls and RunObserver are implemented by runs/ and must
// outlive the run; they are called on the loop thread. How a run ended is always a RunOutcome: an Error is
// left for what kept it from starting.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/call.h"
#include "base/json.h"
#include "base/limits.h"
#include "capsule/capsule.h"
#include "executors/runtime.h"
#include "io/task.h"

namespace relay::executors {

using io::Task;

struct RunLimits {
  std::chrono::milliseconds timeout = limits::kRunTimeout;  // wall clock, hard
  std::size_t mem_mb = limits::kRunMemoryMb;
  std::size_t stdout_bytes = limits::kRunOutputBytes;  // of stdout and of stderr, each
};

/// A named session: the child and its variables stay for the next run of the same name.
struct SessionKey {
  std::string owner;  // whose session it is (OwnedRun::owner); others cannot see it
  std::string name;
  auto operator<=>(const SessionKey&) const = default;
};

enum class SessionStart : std::uint8_t { keep, reset };

/// What a recorded call runs. Whose run it is and what it is called comes from the record.
struct RunRequest {
  Runtime runtime = Runtime::quickjs;
  capsule::Capsule capsule;  // what runs, signed; the child checks it again
  std::string key;           // SPKI DER of the signing key, base64
  std::string stdin_bytes;
  bool stdin_live = false;  // more input may be asked for with the `input` call
  std::string session;      // the name of a session of the caller; empty: a fresh sandbox
  SessionStart session_start = SessionStart::keep;
  RunLimits limits;
  json::array servers;  // upstream servers that code may call, by name
  json::object extra;   // further members of the start header
};

/// A run of one caller, on its way to a child. Made by an executor from the record and the request.
struct OwnedRun {
  RunRequest request;
  std::string run_id;
  std::string owner;  // what is kept from one run for another stays with its owner: owner_of the caller
  SessionKey session = {};
  bool deps_held = false;  // the child has the layer of dependencies already and need not get it again

  [[nodiscard]] Runtime runtime() const { return request.runtime; }
  [[nodiscard]] bool in_session() const { return !session.name.empty(); }
};

/// The client, or all clients of a principal that nothing tells from each other.
std::string owner_of(const authority::Caller& caller);
/// A session of a client that nothing tells from others has no owner but its name, which is a secret then.
SessionKey session_key_of(const authority::Caller& caller, std::string name);

/// "run_" and the digits of the call's request id: the record of a run is found by either.
std::string run_id_of(std::string_view request_id);

/// What the guest asked of us: {"op":"fs.read","args":{...}} and bytes. Hostile.
struct HostCall {
  std::string op;
  json::object args;
  std::string body;
  std::string args_text = {};  // of mcp.call: the args as they were written, for whoever passes them on
};

/// What the guest sees of a failure. `errno_name` ("ENOENT") is for file operations.
struct HostFailure {
  std::string type;
  std::string message;
  std::string errno_name;
};

struct HostReply {
  json::value result;  // null when there is only a body
  std::string body;
  std::optional<HostFailure> failure;
  std::string result_text = {};  // valid JSON that goes out as it is, instead of `result`
};

/// A result that comes in pieces: event frames for one call, in order. Either events come before the reply
/// that call() returns, or the reply is sent first and the events follow it: then what call() returns is not
/// sent, and an Error becomes the event "error".
class HostStream {
 public:
  virtual ~HostStream() = default;
  virtual void send_reply(json::value result) = 0;
  /// Returns when the child's socket took it, so a slow guest slows the source down. Fails once the run is
  /// over.
  virtual Task<void> send_event(std::string_view event, json::object header, std::string_view body) = 0;
};

/// Everything that a guest can reach: the wall on relay's side. Called once per request, many at a time; a
/// call whose run has ended is cancelled. An Error becomes a failure with the error's type.
class HostCalls {
 public:
  virtual ~HostCalls() = default;
  virtual Task<HostReply> call(HostCall call, HostStream& stream) = 0;
};

/// Told what happens while it happens. Loop thread; must not block.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_stdout(std::string_view) {}
  virtual void on_stderr(std::string_view) {}
  /// For people: "starting Python", "waiting for a free slot".
  virtual void on_progress(std::string_view) {}
};

struct RunFailure {
  std::string type;  // "Timeout", "OutputLimitExceeded", or what the guest threw: "TypeError"
  std::string message;
  std::string stack;
};

struct RunUsage {
  double wall_ms = 0;
  double cpu_ms = 0;
  double mem_peak_mb = 0;
  double queued_ms = 0;
};

// Exit codes that mean something to people who know shells.
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitPolicy = 126;
inline constexpr int kExitMemory = 137;

struct RunOutcome {
  int exit_code = 0;
  std::optional<std::string> value_json;  // JSON text of the last expression's value
  std::string value_text;                 // how the guest's own inspector shows it
  std::optional<RunFailure> error;
  std::string stdout_bytes;
  std::string stderr_bytes;
  bool stdout_truncated = false;
  bool stderr_truncated = false;
  RunUsage usage;
  std::string executor;      // Executor::name() of the place
  std::string session_note;  // why a session's variables are gone, when they are
};

/// Stops one run from outside and still lets it report what it printed. Copies share one state; loop thread
/// only.
class RunStop {
 public:
  RunStop() : state_(std::make_shared<State>()) {}
  /// Kills the child at once; the outcome says Cancelled and keeps the output. Without effect once the run is
  /// over.
  void request() {
    if (std::exchange(state_->requested, true) || !state_->on_request) return;
    state_->on_request();
  }
  [[nodiscard]] bool requested() const { return state_->requested; }
  /// For the executor: what request() does from now on. An empty function: nothing, the run is over.
  void on_request(std::function<void()> end_run) { state_->on_request = std::move(end_run); }

 private:
  struct State {
    bool requested = false;
    std::function<void()> on_request;
  };
  std::shared_ptr<State> state_;
};

}  // namespace relay::executors
