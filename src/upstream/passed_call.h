// PassedCall: a recorded call on its way to an upstream server. It says which of the server's things is
// meant; the arguments are not in it. They are taken from the record, so that the bytes that were judged are
// the ones sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "authority/recorded.h"
#include "authority/unrecorded.h"
#include "peer/peer.h"

namespace relay::upstream {

struct PassedCall {
  enum class Kind : std::uint8_t { tool, prompt, resource } kind = Kind::tool;
  std::string name;        // as the server knows it: of the tool or prompt, or the URI
  json::object meta = {};  // see peer::Outgoing
  std::optional<protocol::JsonText> input_schema = {};  // of a tool
  bool as_task = false;                                 // of a tool
};

/// tools/call and prompts/get with the judged bytes as arguments, resources/read with the URI.
peer::Outgoing outgoing_of(const authority::Recorded& recorded, PassedCall passed);

/// completion/complete; `params` is its JSON text.
peer::Outgoing completion_of(const authority::Unrecorded& permit, std::string params);

}  // namespace relay::upstream
