// Asker: asks the client's side during a call: its user, its model, its roots.
//
// Asking is one co_await. Whether it becomes a request on the client's stream (legacy), or an
// `input_required` answer, a parked coroutine and a second request (modern), or an input request of a task,
// is decided behind it. Loop thread only.
#pragma once

#include <string>
#include <vector>

#include "io/task.h"
#include "protocol/ask.h"

namespace relay::serving {

class Asker {
 public:
  Asker() = default;
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  virtual ~Asker() = default;

  /// What the client declared, and so what it can be asked.
  [[nodiscard]] virtual const protocol::ClientCapabilities& client() const = 0;
  /// Asks several things in one round; the answers come in the same order. Fails with `unavailable` when the
  /// client did not declare that it can be asked, and with `cancelled` or `timeout` when nobody answers.
  virtual io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) = 0;

  /// One question. The key names the answer on the wire of the modern era; most tools leave it out.
  io::Task<protocol::ElicitResult> elicit(protocol::ElicitForm form, std::string key = {});
  io::Task<protocol::ElicitResult> elicit(protocol::ElicitUrl page, std::string key = {});
  io::Task<protocol::SampleResult> sample(protocol::SampleRequest request, std::string key = {});
  io::Task<std::vector<protocol::Root>> roots(std::string key = {});
};

}  // namespace relay::serving
