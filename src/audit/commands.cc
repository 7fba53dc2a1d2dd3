#include "audit/commands.h"

#include <ostream>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "audit/line_text.h"
#include "audit/segments.h"
#include "authority/decision.h"
#include "base/json.h"

namespace relay::audit {
namespace {

constexpr int kFine = 0;
constexpr int kNothing = 1;
constexpr int kBroken = 2;

std::string text_of(const json::object& record, std::string_view key) {
  return std::string(json::find_string(record, key).value_or(""));
}

authority::Decision decision_of(const json::object& record) {
  authority::Decision decision;
  const std::string outcome = text_of(record, "outcome");
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
  if (const std::string parent = text_of(record, "parent"); !parent.empty())
    out << fmt::format("part of  {}\n", parent);
  if (const json::value* args = json::find(record, "args"))
    out << fmt::format("args     {}\n", json::write(*args));
  if (text_of(record, "action") == "begin") {
    out << "began; no closing line yet\n";
    return;
  }
  out << fmt::format("outcome  {}, {} bytes of output\n\n", text_of(record, "outcome"),
                     json::find_int(record, "output_len").value_or(0));
  out << authority::describe(decision_of(record));
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
    const std::string id = text_of(*record, "request_id");
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

int run_audit_tail(const TailOptions& options, std::ostream& out, const std::function<bool()>& more) {
  const auto lines = last_matches(options.path, options.filter);
  if (!lines) {
    out << lines.error().message << '\n';
    return lines.error().kind == ErrorKind::not_found ? kNothing : kBroken;
  }
  const auto print = [&](std::string_view line) {
    (options.columns > 0 ? out << to_readable(line, options.columns) : out << line) << '\n' << std::flush;
  };
  for (const std::string& line : *lines) print(line);
  if (!options.follow) return kFine;
  return follow(options.path, options.filter, print, more) ? kFine : kBroken;
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
