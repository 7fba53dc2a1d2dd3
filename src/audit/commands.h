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

struct TailOptions {
  std::string path;
  TailFilter filter;
  bool follow = false;
  std::size_t columns = 0;  // of the terminal that people read it on; 0: the lines as they are
};
/// `more` is asked between reads while following: it waits a little and says whether to go on.
int run_audit_tail(const TailOptions& options, std::ostream& out, const std::function<bool()>& more);

/// Prints what the log knows of a call: who, what, how it ended, the ladder with the rung that decided, the
/// calls it made.
int run_explain(const std::string& log_path, const std::string& request_id, std::ostream& out);

}  // namespace relay::audit
