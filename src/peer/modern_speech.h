// ModernSpeech: how requests of the modern era are put. Each says who asks, what that side can do and which
// logs it wants.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "peer/peer_dialogue.h"

namespace relay::peer {

class ModernSpeech {
 public:
  explicit ModernSpeech(const protocol::Implementation& self);

  /// `params` must hold until the message is sent.
  [[nodiscard]] OutgoingMessage put(std::string_view method, std::string_view params,
                                    const RequestScope& exchange, const json::object& meta = {}) const;

 private:
  std::string who_;  // version and clientInfo, as members of _meta
};

/// True for -32022 from a server that names our own revision among those it supports: worth exactly one more
/// try.
bool is_passing_refusal(const protocol::Response& response);

/// What a server is told of the other side's capabilities: those we pass questions on for, and its
/// extensions.
std::string describe_client(const protocol::ClientCapabilities& client);

}  // namespace relay::peer
