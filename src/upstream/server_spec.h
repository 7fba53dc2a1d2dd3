// ServerSpec: what the configuration says of one upstream server, as a plain value. config/ makes it, the
// fleet compares it: two equal specs mean that nothing is restarted. References to secrets stand in it as
// text, so it may be shown, hashed and logged.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "launch/cage_spec.h"
#include "peer/era_choice.h"

namespace relay::upstream {

enum class ServerTransport : std::uint8_t { stdio, http, sse };
/// Who sees its tools: programs (code), the tool list (tools), both, or nobody.
enum class Expose : std::uint8_t { code, tools, both, none };
/// Whether clients share one connection, or each client session has its own (its own process, on stdio).
enum class Sharing : std::uint8_t { shared, session };

struct ServerSpec {
  std::string name;  // the id in the configuration: what tools are prefixed with
  std::string description;
  ServerTransport transport = ServerTransport::stdio;

  // Arguments, endpoint and the values of env and headers may hold ${env:NAME}, ${file:PATH} and
  // ${secret:NAME}, which are resolved when the server is started. What is kept and shown is the reference.
  std::string command;
  std::vector<std::string> args;
  std::string cwd;
  std::map<std::string, std::string> env;

  std::string endpoint;
  std::map<std::string, std::string> headers;

  Expose expose = Expose::code;
  bool enabled = true;
  bool autostart = false;
  peer::EraChoice era = peer::EraChoice::probe;
  Sharing sharing = Sharing::shared;
  std::optional<launch::CageSpec> cage;  // the walls around a stdio server that is not trusted

  std::chrono::milliseconds start_timeout = limits::kUpstreamStart;
  std::chrono::milliseconds call_timeout = limits::kUpstreamCall;
  std::chrono::milliseconds idle_stop = limits::kUpstreamIdle;  // 0: never
  std::size_t max_concurrent = limits::kUpstreamConcurrent;
  std::size_t calls_per_minute = 0;  // 0: no limit

  std::vector<std::string> allow;                   // globs over tool names; empty: all
  std::vector<std::string> deny;                    // beats allow
  std::size_t result_bytes = limits::kResultBytes;  // of a result for a model; 0: no limit
  std::map<std::string, int> tiers;                 // per tool: 0..3, instead of what its annotations say

  [[nodiscard]] bool in_tool_list() const { return expose == Expose::tools || expose == Expose::both; }
  [[nodiscard]] bool in_code() const { return expose == Expose::code || expose == Expose::both; }
  friend bool operator==(const ServerSpec&, const ServerSpec&) = default;
};

}  // namespace relay::upstream
