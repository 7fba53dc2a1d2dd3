// Call: one thing that somebody wants done, as a plain value. Tools, resources and prompts are all calls.
//
// policy_text is everything the executor will see, spelled as text: the command and its stdin and its
// environment, the code, the paths, the hosts. `fields` is the same by name, each value alone and decoded:
// what policy patterns are matched against. What is in neither cannot be denied; a toolset that leaves
// something out has a hole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "authority/arguments.h"
#include "authority/caller.h"
#include "authority/tier.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"

namespace relay::authority {

/// The name that rules and audit lines use: the principal, or "local/<what the client calls itself>" where
/// nobody was authenticated. The second half is the client's own claim: a rule on it is for clients that
/// cooperate.
std::string client_id(const Caller& caller);

/// One named part of what a call would do.
struct CallField {
  std::string name;
  std::string value;

  bool operator==(const CallField&) const = default;
};

/// Does a field say what the call acts on (path, host, command), rather than what it carries there?
bool identifies(const CallField& field);

/// Was the caller authenticated, so that its name is more than its own claim?
bool is_authenticated(const Caller& caller);

/// What tells one client from all others, for whatever is kept between its calls: named sessions, its
/// workspace, its memory. The MCP session, the pipe of a stdio client, or the name that was authenticated;
/// what a client says of itself is nothing of that sort.
struct ClientKey {
  std::string text = {};    // empty: nothing tells it from others, as in the stateless era without a token
  bool is_lasting = false;  // the client may come back with it after relay was restarted
  [[nodiscard]] bool empty() const { return text.empty(); }
};
ClientKey key_of_client(const Caller& caller);

struct Call {
  std::string request_id;  // ours, unique: "req_" and hex, an effect's with "-1"; the key for `relay explain`
  Caller caller;
  std::string toolset;  // "code", "files", "resource", "prompt"
  std::string tool;     // "run_js", "resource:results", "prompt:guide"
  Tier tier = Tier::reversible;
  std::string policy_text;
  std::vector<CallField> fields;
  Arguments args;                 // as the client sent them
  std::string upstream;           // "server/tool" when it is passed on to another MCP server
  std::string parent;             // the request id of the run that makes this call; empty at the top
  std::optional<MonoTime> began;  // when it arrived; the closing line says how long it took
};

/// SHA-256(tool \0 policy_text \0 canonical JSON of args): the same call, and nothing but the same call,
/// has the same digest. Confirmations are bound to it.
Sha256 digest_of(const Call& call);

}  // namespace relay::authority
