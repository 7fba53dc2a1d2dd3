#include "policy/narrowed.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::policy {

std::int64_t narrower(std::string_view name, std::int64_t server, const std::optional<std::int64_t>& client,
                      std::vector<std::string>& widening) {
  if (!client) return server;
  if (*client > server)
    widening.push_back(fmt::format("{}: {} is over the server's {}", name, *client, server));
  return std::min(server, *client);
}

}  // namespace relay::policy
