// What `relay audit verify`, `relay audit tail` and `relay explain` do once their flags are parsed. Each
// returns the exit code: 0 fine, 1 nothing found, 2 a broken chain or a log that cannot be read.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "audit/tail.h"
#include "audit/verify.h"

namespace relay::audit {

struct VerifyOptions {
  std::string path;
  Scope scope = Scope::whole;
  bool json = false;
};
int run_audit_verify(const VerifyOptions& options, std::ostream& out);

/// As it was typed: an empty text asks for nothing.
struct TailOptions {
  std::string path;
  std::size_t lines = 20;
  std::string tool;
  std::string client;
  std::string outcome;
  std::string since;  // audit/since.h
  Starts starts = Starts::hidden;
  bool follow = false;
  std::size_t columns = 0;  // of the terminal that people read it on; 0: the lines as they are, starts too
};
/// Lines go to `out`, what there is to say about them to `notes`. A log that is not there yet is fine. `more`
/// is asked between reads while following: it waits a little and says whether to go on.
int run_audit_tail(const TailOptions& options, WallTime now, std::ostream& out, std::ostream& notes,
                   const std::function<bool()>& more);

/// Prints what the log knows of a call: who, what, how it ended, the ladder with the rung that decided, the
/// calls it made.
int run_explain(const std::string& log_path, const std::string& request_id, std::ostream& out);

}  // namespace relay::audit
