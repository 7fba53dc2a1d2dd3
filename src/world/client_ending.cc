#include "world/client_ending.h"

namespace relay::world {

void ClientEnding::session_ended(const authority::Caller& caller) {
  if (executors_) executors_->drop_sessions(executors::owner_of(caller));
  pool_.post([&trees = trees_, holder = authority::key_of_client(caller)] {
    [[maybe_unused]] const auto closed = trees.close(holder);  // what is left goes at the next start
  });
}

}  // namespace relay::world
