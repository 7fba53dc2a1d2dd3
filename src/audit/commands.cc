#include "audit/commands.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "audit/line_text.h"
#include "audit/segments.h"
#include "audit/since.h"
#include "authority/decision.h"
#include "authority/outcome.h"
#include "base/json.h"

namespace relay::audit {
namespace {

constexpr int kFine = 0;
constexpr int kNothing = 1;
constexpr int kBroken = 2;

using authority::Ending;
constexpr auto kEndings =
    std::array{Ending::ok,      Ending::error,     Ending::denied, Ending::confirm_required, Ending::invalid,
               Ending::timeout, Ending::too_large, Ending::busy,   Ending::cancelled};

authority::Decision decision_of(const json::object& record) {
  authority::Decision decision;
  const std::string_view outcome = text_of(record, "outcome");
  decision.verdict = outcome == "confirm_required" ? authority::Verdict::confirm
                     : json::find_bool(record, "denied").value_or(false) || outcome == "invalid"
                         ? authority::Verdict::deny
                         : authority::Verdict::allow;
  decision.tier = authority::find_tier(json::find_int(record, "tier").value_or(3))
                      .value_or(authority::Tier::irreversible);
  decision.ladder = authority::parse_compact_ladder(text_of(record, "ladder"), decision.deciding);
  return decision;
}

void print_call(const json::object& record, std::ostream& out) {
  out << fmt::format("{}  {}  {}\n", text_of(record, "ts"), text_of(record, "request_id"),
                     text_of(record, "tool"));
  out << fmt::format("client   {}\n", text_of(record, "client_id"));
  if (const std::string_view parent = text_of(record, "parent"); !parent.empty())
    out << fmt::format("part of  {}\n", parent);
  if (const json::value* args = json::find(record, "args"))
    out << fmt::format("args     {}\n", json::write(*args));
  if (text_of(record, "action") == "begin") {
    out << "began; no closing line yet\n";
    return;
  }
  const auto took = json::find_int(record, "duration_us");
  out << fmt::format("outcome  {}{}, {} bytes of output\n\n", text_of(record, "outcome"),
                     took ? " after " + format_took(std::chrono::microseconds(*took)) : "",
                     json::find_int(record, "output_len").value_or(0));
  out << authority::describe(decision_of(record));
}

Result<void> check_outcome(const std::string& wanted) {
  std::vector<std::string_view> names;
  for (const Ending ending : kEndings) names.push_back(authority::name(ending));
  if (wanted.empty() || std::ranges::find(names, wanted) != names.end()) return {};
  return fail(invalid(
      fmt::format("there is no outcome \"{}\"; the outcomes are {}", wanted, fmt::join(names, ", "))));
}

Result<TailFilter> make_filter(const TailOptions& options, WallTime now) {
  TailFilter filter{.lines = options.lines,
                    .tool = options.tool,
                    .client = options.client,
                    .outcome = options.outcome,
                    .tier = {},
                    .denied = {},
                    .since = {}};
  RELAY_CHECK(check_outcome(options.outcome));
  if (!options.since.empty()) {
    RELAY_TRY(filter.since, parse_since(options.since, now));
  }
  // A question about the log itself asks for them.
  const bool hide = options.columns > 0 && options.tool != "audit";
  filter.starts = hide ? options.starts : Starts::shown;
  return filter;
}

struct Findings {
  std::optional<json::object> call;  // the closing line, or the opening one while there is no other
  std::vector<json::object> inner;
  std::set<std::string> ids;  // of the calls that were meant
};

void collect(const std::string& path, const std::string& request_id, Findings& findings) {
  auto file = LineFile::open(path);
  while (file) {
    const auto line = file->next();
    if (!line || !*line) return;
    if ((*line)->text.find(request_id) == std::string_view::npos)
      continue;  // most lines are about something else
    auto record = json::parse_object((*line)->text);
    if (!record) continue;
    const bool begin = text_of(*record, "action") == "begin";
    const std::string id(text_of(*record, "request_id"));
    if (id.starts_with(request_id)) {
      findings.ids.insert(id);
      if (!begin || !findings.call) findings.call = std::move(*record);
    } else if (text_of(*record, "parent").starts_with(request_id) && !begin) {
      findings.inner.push_back(std::move(*record));
    }
  }
}

}  // namespace

int run_audit_verify(const VerifyOptions& options, std::ostream& out) {
  const Verification result = verify_log(options.path, options.scope);
  if (options.json) {
    out << json::write(to_json(result)) << '\n';
  } else {
    out << (result.ok ? "OK      " : "BROKEN  ") << result.path << ": " << result.reason << '\n';
  }
  return result.ok ? kFine : kBroken;
}

int run_audit_tail(const TailOptions& options, WallTime now, std::ostream& out, std::ostream& notes,
                   const std::function<bool()>& more) {
  const auto filter = make_filter(options, now);
  if (!filter) {
    notes << filter.error().message << '\n';
    return kBroken;
  }
  const auto print = [&](std::string_view line) {
    (options.columns > 0 ? out << to_readable(line, options.columns) : out << line) << '\n' << std::flush;
  };
  const auto lines = last_matches(options.path, *filter);
  if (lines) {
    for (const std::string& line : *lines) print(line);
  } else if (lines.error().kind == ErrorKind::not_found) {
    notes << fmt::format("no log yet: {} is made when relay first serves or runs something\n", options.path);
  } else {
    notes << lines.error().message << '\n';
    return kBroken;
  }
  if (!options.follow) return kFine;
  return follow(options.path, *filter, print, more) ? kFine : kBroken;
}

int run_explain(const std::string& log_path, const std::string& request_id, std::ostream& out) {
  Findings findings;
  for (const Segment& segment : find_rotated(log_path)) collect(segment.path, request_id, findings);
  collect(log_path, request_id, findings);
  if (request_id.empty() || !findings.call) {
    out << fmt::format("no call {} in {}\n", request_id, log_path);
    return kNothing;
  }
  if (findings.ids.size() > 1) {
    out << fmt::format("{} calls in {} begin with {}; give more of the id\n", findings.ids.size(), log_path,
                       request_id);
    return kNothing;
  }
  print_call(*findings.call, out);
  if (!findings.inner.empty()) out << "\ncalls it made\n";
  for (const json::object& record : findings.inner)
    out << fmt::format("  {}  {}  {}\n", text_of(record, "request_id"), text_of(record, "tool"),
                       text_of(record, "outcome"));
  return kFine;
}

}  // namespace relay::audit
