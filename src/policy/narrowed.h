// Narrowed: the outcome of intersecting the server's policy with what a client asks for. The result is never
// wider than either side; where the client asked for more, that is reported, not granted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relay::policy {

template <class T>
struct Narrowed {
  T policy;
  std::vector<std::string> widening;  // "network.maxBodyBytes: 9 is over the server's 5"
};

/// The smaller number; a client's number over the server's is reported under its name, "limits.memMb".
std::int64_t narrower(std::string_view name, std::int64_t server, const std::optional<std::int64_t>& client,
                      std::vector<std::string>& widening);

}  // namespace relay::policy
