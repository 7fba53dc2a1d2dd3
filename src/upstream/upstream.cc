#include "upstream/upstream.h"

namespace relay::upstream {

io::Task<peer::PeerAnswer> Upstream::request(const authority::Recorded& recorded, PassedCall passed,
                                             peer::RequestScope& exchange) {
  if (exchange.principal() != recorded.call().caller.principal)
    co_return fail(internal("a call was passed on in the name of another principal than its record's"));
  peer::Outgoing outgoing = outgoing_of(recorded, std::move(passed));
  outgoing.timeout = spec().call_timeout;
  co_return co_await send(std::move(outgoing), exchange);
}

io::Task<peer::PeerAnswer> Upstream::complete(const authority::Unrecorded& permit, std::string params,
                                              peer::RequestScope& exchange) {
  peer::Outgoing outgoing = completion_of(permit, std::move(params));
  outgoing.timeout = spec().call_timeout;
  co_return co_await send(std::move(outgoing), exchange);
}

io::Task<void> Upstream::watch(const authority::Recorded&, std::string uri) {
  return start_watch(std::move(uri));
}

}  // namespace relay::upstream
