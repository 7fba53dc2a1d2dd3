// Effects: what a call did to the world besides its own answer: requests of its guest, files that it wrote on
// the host, packages that were installed for it. Each is a line of the audit log whose parent is the call.
//
// A Recorded hands out its own; there is no other way to get one. Doors that may still work when the call was
// cancelled (a download, an installation that other calls wait for) hold it instead of the Recorded, and it
// is their permission. Loop thread only.
//
// The first effect of a kind is written at once. The same effect again (the same tool, target and outcome) is
// counted, and one line with the sums is written when the call ends. A call has at most limits::kEffectLines
// lines of the first sort; what comes after them is counted for each tool, in one line too. An effect that
// comes after the end of its call is written at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "authority/call.h"
#include "authority/decision.h"
#include "authority/outcome.h"

namespace relay::authority {

/// One effect, as a plain value.
struct SideEffect {
  std::string tool;  // "fetch", "fs.write", "npm": the tool of the audit line
  Tier tier = Tier::read_only;
  json::object target;  // what it was done to: {"host":...,"method":...}. Equal targets share their sums
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  Ending ending = Ending::ok;
  std::string rung = {};    // which wall refused it: "network"; empty when none did
  std::string reason = {};  // why it was refused or failed
};

/// Where the lines go. Must not throw.
class EffectWriter {
 public:
  virtual ~EffectWriter() = default;
  virtual void write(const Call& call, const Decision& decision, const Outcome& outcome) noexcept = 0;
};

class Effects {
 public:
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;
  ~Effects() { close(); }

  /// The call, without its arguments.
  [[nodiscard]] const Call& call() const { return call_; }
  void add(SideEffect effect);

 private:
  friend class Recorded;
  Effects(std::shared_ptr<EffectWriter> writer, const Call& call);
  /// Writes the sums. Later effects have lines of their own.
  void close();

  struct Sum {
    SideEffect effect;  // with the bytes of all
    std::uint64_t count = 0;
  };
  enum class Detail : std::uint8_t { one, sum };
  Sum& sum_of(const SideEffect& effect);
  void write(const SideEffect& effect, Detail detail, std::uint64_t count);

  std::shared_ptr<EffectWriter> writer_;
  Call call_;
  std::map<std::string, Sum, std::less<>> sums_;
  std::size_t lines_ = 0;      // of first effects
  std::uint64_t written_ = 0;  // lines in all: the numbers behind the ids
  bool closed_ = false;
};

}  // namespace relay::authority
