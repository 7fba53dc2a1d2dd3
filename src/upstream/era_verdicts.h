// EraVerdicts: which era each server was found to speak, with the date, so that the next start need not find
// out again.
//
// Kept in eras.json: {"NAME":{"server":"<sha256 of how it is reached>","era":"legacy","date":1794787200}}
// (seconds since 1970). A legacy verdict expires, because a server that was updated would never be asked
// again; a modern one needs no keeping but does no harm.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "io/thread_pool.h"
#include "protocol/revision.h"
#include "upstream/server_spec.h"

namespace relay::upstream {

class EraVerdicts {
 public:
  /// Reads the file; one that is missing or damaged counts as empty. Blocking, once. An empty path: nothing
  /// is kept.
  EraVerdicts(io::Loop executor, io::ThreadPool* pool, const Clock& clock, std::filesystem::path file);

  /// What to try: the spec's own choice, or what is known of a server to be probed.
  [[nodiscard]] peer::EraChoice choice_for(const ServerSpec& spec) const;
  void remember(const ServerSpec& spec, protocol::Era era);
  /// The verdict did not work out: probe again.
  void forget(const ServerSpec& spec);

 private:
  struct Verdict {
    std::string server;
    protocol::Era era;
    WallTime date;
  };
  void load(const json::object& file);
  [[nodiscard]] json::object to_json() const;
  void save();

  io::Loop executor_;
  io::ThreadPool* pool_;
  const Clock& clock_;
  std::filesystem::path file_;
  std::map<std::string, Verdict, std::less<>> verdicts_;
};

}  // namespace relay::upstream
