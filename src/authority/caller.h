// Caller: who asks. Filled in by the transport and by authentication, carried unchanged to the audit line.
#pragma once

#include <string>

namespace relay::authority {

struct Caller {
  std::string principal;       // who was authenticated; empty when nobody was asked
  std::string client_name;     // what the client calls itself: for people, never for decisions about trust
  std::string client_version;
  std::string session_id;      // empty for calls outside a session
  std::string transport;       // "http", "stdio", "run"
  std::string remote_address;  // empty on stdio
};

/// The name that rules and audit lines use: the principal, else the client's own name, else "anonymous".
inline const std::string& client_id(const Caller& caller) {
  static const std::string kAnonymous = "anonymous";
  if (!caller.principal.empty()) return caller.principal;
  return caller.client_name.empty() ? kAnonymous : caller.client_name;
}

}  // namespace relay::authority
