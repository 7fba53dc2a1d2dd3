#include "give_up.h"

#include <unistd.h>

#include <string>

#include "sandbox/cage_plan.h"

namespace relay::cage {

void give_up(const Error& error) {
  const std::string text = "relay-cage: " + error.message + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(sandbox::kCageFailed);
}

}  // namespace relay::cage
