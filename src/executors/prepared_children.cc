#include "executors/prepared_children.h"

#include <algorithm>

namespace relay::executors {
namespace {

constexpr std::size_t kSpoiledRemembered = 1000;

}  // namespace

std::shared_ptr<RunChild> PreparedChildren::take(const std::string& key) {
  sweep();
  for (;;) {
    const auto found = std::ranges::find(children_, key, &Waiting::key);
    if (found == children_.end()) return nullptr;
    const std::shared_ptr<RunChild> child = std::move(found->child);
    children_.erase(found);
    // One that has died, or spoke out of turn, is not trusted with a run.
    if (child->alive() && child->quiet()) return child;
  }
}

bool PreparedChildren::begin(const std::string& key) {
  const auto waiting = static_cast<std::size_t>(std::ranges::count(children_, key, &Waiting::key));
  if (spoiled_.contains(key) || beginning_.size() >= kAtOnce || waiting + beginning_.count(key) >= kEach)
    return false;
  beginning_.insert(key);
  return true;
}

void PreparedChildren::keep(const std::string& key, std::shared_ptr<RunChild> child) {
  give_up(key);
  children_.push_back({key, std::move(child), clock_.mono()});
  while (children_.size() > kAll) children_.pop_front();
}

void PreparedChildren::spoil(const std::string& key) {
  give_up(key);
  if (spoiled_.size() < kSpoiledRemembered) spoiled_.insert(key);
}

void PreparedChildren::give_up(const std::string& key) {
  if (const auto found = beginning_.find(key); found != beginning_.end()) beginning_.erase(found);
}

void PreparedChildren::sweep() {
  const MonoTime now = clock_.mono();
  std::erase_if(children_, [now](const Waiting& waiting) { return now - waiting.since > kUnused; });
}

void PreparedChildren::clear() {
  children_.clear();
}

}  // namespace relay::executors
