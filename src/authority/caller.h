// Caller: who is asking. A plain value, made by a transport after authentication and carried through the
// whole life of a call: policy decides on it, audit writes it down, sessions and parked calls are bound to
// its principal. What the client says of itself (`client_name`) stands apart from what was proved, and grants
// nothing.
#pragma once

#include <cstdint>
#include <string>

namespace relay::authority {

enum class Transport : std::uint8_t { http, stdio, sse, internal };

constexpr const char* name_of(Transport transport) {
  switch (transport) {
    case Transport::http: return "http";
    case Transport::stdio: return "stdio";
    case Transport::sse: return "sse";
    case Transport::internal: return "internal";
  }
  return "internal";
}

struct Caller {
  std::string principal;    // the authenticated name; "local" where there is no authentication
  std::string client_name;  // what the client says it is: for people and records, never for decisions
  std::string client_version;
  std::string session_id;  // empty in the stateless era
  std::string connection;  // of stdio: names the one client at the other end; unguessable, empty elsewhere
  Transport transport = Transport::http;
  std::string remote;  // the address it came from, empty on stdio
};

}  // namespace relay::authority
