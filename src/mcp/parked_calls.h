// ParkedCalls: modern calls that wait in memory for the client to come back with answers. Bounded; each has a
// time. Bound to this process: a parked call is a suspended coroutine
// (docs/decisions/0031-room-for-a-second-machine.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/limits.h"
#include "base/result.h"

namespace relay::mcp {

class ModernCall;

class ParkedCalls {
 public:
  /// Fails with `busy` over limits::kParkedCalls.
  Result<void> park(const std::string& id, std::shared_ptr<ModernCall> call) {
    if (calls_.size() >= limits::kParkedCalls && !calls_.contains(id))
      return fail(busy("too many calls wait for answers: try again later"));
    calls_.insert_or_assign(id, std::move(call));
    return {};
  }
  void remove(const std::string& id) { calls_.erase(id); }
  [[nodiscard]] std::shared_ptr<ModernCall> find(const std::string& id) const {
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::size_t size() const { return calls_.size(); }
  /// Cancels them all.
  void stop();

 private:
  std::unordered_map<std::string, std::shared_ptr<ModernCall>> calls_;
};

}  // namespace relay::mcp
