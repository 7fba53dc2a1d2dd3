#include "audit/record.h"

#include <cassert>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "policy/redaction.h"

namespace relay::audit {
namespace {

constexpr std::string_view kHashOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// "2026-11-15T20:04:05.123456+00:00": the seconds come from the last call most of the time, so only the
// fraction is formatted.
void append_time(std::string& out, WallTime time) {
  thread_local WallTime last_second{};
  thread_local std::string prefix;
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  if (prefix.empty() || second != last_second) {
    last_second = second;
    prefix = format_iso8601(second).substr(0, 20);
  }
  out += prefix;
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{:06}+00:00"), (time - second).count());
}

}  // namespace

void Record::begin_member(std::string_view key) {
  assert(count_ < kMembersMax);
  if (!text_.empty()) text_ += ',';
  members_[count_] = {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(key.size()), 0};
  text_ += '"';
  text_ += key;
  text_ += "\":";
}

void Record::end_member() {
  members_[count_++].end = static_cast<std::uint32_t>(text_.size());
}

void Record::add_text(std::string_view key, std::string_view value) {
  begin_member(key);
  json::append_quoted(text_, value);
  end_member();
}

void Record::add_number(std::string_view key, std::int64_t value) {
  begin_member(key);
  fmt::format_to(std::back_inserter(text_), FMT_COMPILE("{}"), value);
  end_member();
}

void Record::add_flag(std::string_view key, bool value) {
  begin_member(key);
  text_ += value ? "true" : "false";
  end_member();
}

void Record::add_json(std::string_view key, std::string_view json) {
  begin_member(key);
  text_ += json;
  end_member();
}

Record make_record(WallTime time, const authority::Call& call, authority::Tier tier,
                   const authority::Outcome& outcome, const secrets::Redactor* known) {
  using authority::Ending;
  Record record;
  record.begin_member("ts");
  record.text_ += '"';
  append_time(record.text_, time);
  record.text_ += '"';
  record.end_member();
  // Names come from clients: a tool that does not exist may have a name of megabytes.
  record.add_text("tool", policy::redact_for_audit(call.tool, known));
  record.add_number("tier", authority::number(tier));
  record.add_flag("denied", outcome.ending == Ending::denied);
  record.begin_member("args");
  policy::append_redacted_json(record.text_, call.args.value(), known);
  record.end_member();
  record.add_text("output_sha256",
                  outcome.output_sha256.empty() ? kHashOfNothing : std::string_view(outcome.output_sha256));
  record.add_number("output_len", static_cast<std::int64_t>(outcome.output_bytes));
  if (outcome.exit_code) {
    record.add_number("exit_code", *outcome.exit_code);
  } else {
    record.add_json("exit_code", "null");
  }
  if (!call.request_id.empty()) record.add_text("request_id", call.request_id);
  record.add_text("client_id", policy::redact_for_audit(authority::client_id(call.caller), known));
  if (!outcome.action.empty()) record.add_text("action", outcome.action);
  if (!call.upstream.empty())
    record.add_text("upstream", known ? known->redact(call.upstream, policy::kRedacted) : call.upstream);
  if (!call.parent.empty()) record.add_text("parent", call.parent);
  return record;
}

Record make_begin(WallTime time, const authority::Grant& grant, const secrets::Redactor* known) {
  authority::Outcome nothing_yet;
  nothing_yet.action = "begin";
  return make_record(time, grant.call(), grant.tier(), nothing_yet, known);
}

Record make_end(WallTime time, const authority::Call& call, const authority::Decision& decision,
                const authority::Outcome& outcome, std::chrono::microseconds took,
                const secrets::Redactor* known) {
  Record record = make_record(time, call, decision.tier, outcome, known);
  record.add_text("outcome", authority::name(outcome.ending));
  record.add_number("duration_us", took.count());
  record.add_text("ladder", authority::compact_ladder(decision));
  return record;
}

Record make_event(WallTime time, std::string_view action, std::string_view args_json, std::string_view tool) {
  Record record;
  record.add_text("ts", format_iso8601(time));
  record.add_text("tool", tool);
  record.add_number("tier", 0);
  record.add_flag("denied", false);
  record.add_json("args", args_json);
  record.add_text("output_sha256", kHashOfNothing);
  record.add_number("output_len", 0);
  record.add_json("exit_code", "null");
  record.add_text("action", action);
  return record;
}

}  // namespace relay::audit
