// PreparedChildren: children that have already evaluated the packages which the next run is likely to import.
//
// A package is evaluated in every fresh sandbox, which takes longer than most programs that use it. So after
// a run with packages another child evaluates the same ones, nothing else, and waits; the next run with them
// finds it. Each serves one run, like every child. The key is the hash of the layer of dependencies and the
// owner. Loop thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "executors/run_child.h"

namespace relay::executors {

class PreparedChildren {
 public:
  static constexpr std::size_t kEach = 2;    // of one key, those that are being prepared included
  static constexpr std::size_t kAll = 8;     // the longest unused one goes first
  static constexpr std::size_t kAtOnce = 2;  // being prepared: it happens beside the queue of runs
  static constexpr auto kUnused = std::chrono::minutes(5);

  explicit PreparedChildren(const Clock& clock) : clock_(clock) {}

  /// Nothing when there is none.
  std::shared_ptr<RunChild> take(const std::string& key);
  /// True when another one is welcome; whoever asked then says how it went, with keep or spoil.
  bool begin(const std::string& key);
  void keep(const std::string& key, std::shared_ptr<RunChild> child);
  /// These packages do not bear it: they print, wait or fail when they are loaded. Nobody tries again.
  void spoil(const std::string& key);
  /// Could not be tried.
  void give_up(const std::string& key);
  /// Ends those that nobody has used for long.
  void sweep();
  void clear();
  [[nodiscard]] std::size_t size() const { return children_.size(); }

 private:
  struct Waiting {
    std::string key;
    std::shared_ptr<RunChild> child;
    MonoTime since;
  };

  const Clock& clock_;
  std::deque<Waiting> children_;  // the newest last
  std::multiset<std::string> beginning_;
  std::set<std::string> spoiled_;
};

}  // namespace relay::executors
