#include "authority/call.h"

namespace relay::authority {

bool identifies(const CallField& field) {
  return field.name == "path" || field.name == "host" || field.name == "command";
}

bool is_authenticated(const Caller& caller) {
  return !caller.principal.empty() && caller.principal != "local";
}

std::string client_id(const Caller& caller) {
  if (is_authenticated(caller)) return caller.principal;
  return caller.client_name.empty() ? "local" : "local/" + caller.client_name;
}

ClientKey key_of_client(const Caller& caller) {
  if (!caller.session_id.empty()) return {"session " + caller.session_id};
  if (!caller.connection.empty()) return {"connection " + caller.connection};
  if (is_authenticated(caller)) return {"principal " + caller.principal, true};
  return {};
}

Sha256 digest_of(const Call& call) {
  constexpr std::string_view kSeparator("\0", 1);
  Sha256Stream stream;
  stream.update(call.tool);
  stream.update(kSeparator);
  stream.update(call.policy_text);
  stream.update(kSeparator);
  stream.update(json::write_canonical(call.args.value()));
  return stream.finish();
}

}  // namespace relay::authority
