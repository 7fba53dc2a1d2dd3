// What a legacy server may ask while a request is open, and whether our side can answer it. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "peer/request_scope.h"
#include "protocol/capabilities.h"
#include "protocol/jsonrpc.h"

namespace relay::peer {

/// elicitation/create, sampling/createMessage, roots/list.
bool is_question(std::string_view method);

/// What to answer at once when the other side did not declare that it can answer this; nothing when it did.
std::optional<protocol::RpcError> find_refusal(const Question& question,
                                               const protocol::ClientCapabilities& client);

}  // namespace relay::peer
