#include "mcp/result_members.h"

#include "base/bytes.h"
#include "protocol/json_writer.h"

namespace relay::mcp {

std::string_view members_of(std::string_view object_text) {
  object_text = trim_ascii(object_text);
  return trim_ascii(object_text.substr(1, object_text.size() - 2));
}

namespace {

bool is_ours_to_say(std::string_view key) {
  return key == "_meta" || key == "resultType" || key == "ttlMs" || key == "cacheScope";
}

// A result tells who answered: we did, whoever helped.
constexpr std::string_view kServerInfo = "io.modelcontextprotocol/serverInfo";

std::string meta_members_of(std::string_view meta_text) {
  if (!meta_text.contains(kServerInfo)) return std::string(members_of(meta_text));
  std::string kept;
  protocol::ObjectWriter writer(kept);
  for (const json::Member& member : json::split_object(meta_text))
    if (member.key != kServerInfo) writer.raw(member.key, member.text);
  writer.finish();
  return std::string(members_of(kept));
}

bool fits(const json::Member& member, protocol::Revision revision) {
  if (member.key != "structuredContent" || protocol::era_of(revision) == protocol::Era::modern) return true;
  return revision >= protocol::Revision::v2025_06_18 && member.text.starts_with('{');
}

}  // namespace

ResultMembers outcome_of_raw(std::string_view result_text, protocol::Revision revision) {
  ResultMembers outcome;
  std::string kept;
  protocol::ObjectWriter writer(kept);
  for (const json::Member& member : json::split_object(result_text)) {
    if (member.key == "_meta" && member.text.starts_with('{'))
      outcome.meta_members = meta_members_of(member.text);
    if (!is_ours_to_say(member.key) && fits(member, revision)) writer.raw(member.key, member.text);
  }
  writer.finish();
  outcome.members = members_of(kept);
  return outcome;
}

std::string write_legacy_result(const ResultMembers& outcome) {
  std::string out;
  out.reserve(outcome.members.size() + outcome.meta_members.size() + 16);
  protocol::ObjectWriter writer(out);
  writer.members(outcome.members);
  if (!outcome.meta_members.empty()) writer.raw("_meta", "{" + outcome.meta_members + "}");
  writer.finish();
  return out;
}

std::string write_modern_result(const ResultMembers& outcome, std::string_view server_info) {
  std::string out;
  out.reserve(outcome.members.size() + outcome.meta_members.size() + server_info.size() + 128);
  protocol::ObjectWriter writer(out);
  writer.raw("resultType", "\"complete\"");
  writer.members(outcome.members);
  if (outcome.caching) {
    writer.number("ttlMs", static_cast<std::int64_t>(outcome.caching->ttl.count()));
    writer.raw("cacheScope",
               outcome.caching->scope == protocol::CacheScope::shared ? "\"public\"" : "\"private\"");
  }
  protocol::ObjectWriter meta(writer.key("_meta"));
  meta.raw(kServerInfo, server_info);
  meta.members(outcome.meta_members);
  meta.finish();
  writer.finish();
  return out;
}

}  // namespace relay::mcp
