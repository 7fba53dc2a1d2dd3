// requestState: what a modern client carries back to us when it answers `input_required`.
//
// The text names the parked call and is bound by a MAC to the principal, to the request (method and
// parameters without the answers) and to a time. It holds nothing secret, and nothing in it is believed
// without the MAC.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"

namespace relay::protocol {

struct RequestState {
  std::string call;  // the parked call
  int round = 0;     // which question of that call: an old answer is not taken for a new one
  WallTime expires;
};

/// What the state is bound to, besides time.
struct StateBinding {
  std::string_view principal;
  Sha256 request;
};

/// Over the method and the parameters without `_meta`, `inputResponses` and `requestState`.
Sha256 digest_request(std::string_view method, const json::object& params);

std::string sign_request_state(std::string_view key, const RequestState& state, const StateBinding& binding);
Result<RequestState> verify_request_state(std::string_view key, std::string_view text,
                                          const StateBinding& binding, WallTime now);

}  // namespace relay::protocol
