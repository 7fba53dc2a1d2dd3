// IdMaker: makes the ids of what Relay keeps for others: sessions, calls, tasks, runs, results, approvals.
// Each id holds the node, a short name of this Relay among others that serve the same clients. So two of them
// never make the same id, and from an id it can be told which of them has the thing.
//
//   req_k3f7-0f9c21…     kind, node, hex digits
//   k3f7-Qm9v…           node, a secret
//
// A value: cheap to copy, but the random source must outlive it. One thread.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"

namespace relay {

/// The longest name of a node, as `server.node` of the configuration allows it.
inline constexpr std::size_t kNodeBytes = 8;

class IdMaker {
 public:
  /// Without a node, which is for programs that serve nobody, such as tests.
  IdMaker(RandomSource& random) : random_(&random) {}  // NOLINT(google-explicit-constructor)
  IdMaker(RandomSource& random, std::string_view node);

  /// "req_" + node + 2 * bytes hex digits. Twelve bytes are enough for names.
  [[nodiscard]] std::string make(std::string_view kind, std::size_t bytes = 12) const;
  /// The node and URL-safe base64 of that many random bytes: for ids that are a permission, too.
  [[nodiscard]] std::string make_secret(std::size_t bytes) const;
  /// The node before an id that was made otherwise, such as a digest.
  [[nodiscard]] std::string of_node(std::string_view id) const { return prefix_ + std::string(id); }

 private:
  RandomSource* random_;
  std::string prefix_;  // "k3f7-", or empty
};

/// Four characters of base32: enough to tell the nodes of one cluster apart.
std::string make_node(RandomSource& random);
/// 1 to kNodeBytes characters a-z and 2-7.
bool is_node(std::string_view text);
/// The node of an id of any kind; empty when it has none.
std::string_view find_node(std::string_view id);

}  // namespace relay
