// Narrowed: the outcome of intersecting the server's policy with what a client asks for. The result is never
// wider than either side; where the client asked for more, that is reported, not granted.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace relay::policy {

template <class T>
struct Narrowed {
  T policy;
  std::vector<std::string> widening;  // "network.maxBodyBytes: 9 is over the server's 5"
};

}  // namespace relay::policy
