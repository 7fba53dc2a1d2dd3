#include "codemode/inner_context.h"

#include <fmt/format.h>

namespace relay::codemode {

InnerContext::InnerContext(serving::Context& outer) : outer_(outer), hold_(outer.hold()) {
  for (const std::string_view key : {"traceparent", "tracestate", "baggage"})
    if (const auto text = json::find_string(outer.meta(), key)) meta_[key] = *text;
}

// Checked here: the outer context would refuse the run's own request for it.
io::Task<std::vector<protocol::InputResponse>> InnerContext::ask_all(std::vector<protocol::Ask> asks) {
  for (const protocol::Ask& ask : asks)
    if (protocol::missing_capability(ask.request, client()))
      co_return fail(
          unavailable(fmt::format("the client does not support {}", protocol::method_of(ask.request))));
  co_return co_await outer_.ask_all(std::move(asks));
}

io::Task<std::vector<protocol::InputResponse>> BareContext::ask_all(std::vector<protocol::Ask>) {
  co_return fail(unavailable("nobody is there to be asked"));
}

}  // namespace relay::codemode
