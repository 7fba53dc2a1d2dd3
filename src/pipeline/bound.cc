#include "pipeline/bound.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "pipeline/results_store.h"
#include "protocol/schema.h"

namespace relay::pipeline {
namespace {

using protocol::Content;
using protocol::TextContent;
using protocol::ToolResult;

constexpr std::size_t kShortestCut = 64;  // a member or an item is not cut below this many bytes
constexpr std::size_t kRestBytes = 640;   // for "truncated" and "rest"
constexpr std::size_t kCutsNamed = 4;     // more cut members are kept as one: the whole structure

std::string marker(std::size_t total, std::size_t shown, std::string_view where) {
  std::string out = fmt::format("\n\n[TRUNCATED - {} bytes total, {} shown", total, shown);
  if (where.empty()) return out + "]";
  out += "; ";
  const std::size_t hole = where.find("{M}");
  out += where.substr(0, hole);
  if (hole != std::string_view::npos) out += fmt::format("{}{}", shown, where.substr(hole + 3));
  return out + "]";
}

std::size_t json_bytes(const json::value& value) {
  return json::write(value).size();
}

std::size_t escaped_bytes(char c) {
  if (c == '"' || c == '\\') return 2;
  if (static_cast<unsigned char>(c) >= 0x20) return 1;
  return std::string_view("\b\f\n\r\t").contains(c) ? 2 : 6;
}

// What each of the parts may take so that all fit: those below take what they need.
std::size_t fair_share(std::vector<std::size_t> parts, std::size_t room) {
  std::ranges::sort(parts);
  std::size_t left = parts.size();
  for (const std::size_t part : parts) {
    const std::size_t share = room / left--;
    if (part > share) return share;
    room -= part;
  }
  return kNoBudget;
}

std::size_t member_bytes(const json::object::value_type& member) {
  return json::quote(member.key()).size() + 2 + json_bytes(member.value());  // with colon and comma
}

std::size_t fair_share(const json::object& members, std::size_t budget_bytes) {
  std::vector<std::size_t> parts;
  for (const auto& member : members) parts.push_back(member_bytes(member));
  return fair_share(std::move(parts), budget_bytes - std::min<std::size_t>(budget_bytes, 2));
}

void cut(json::value& value, std::size_t budget_bytes);

// How many items are left whole.
std::size_t cut_array(json::array& items, std::size_t budget_bytes) {
  std::size_t room = budget_bytes - std::min<std::size_t>(budget_bytes, 2);
  std::size_t kept = 0;
  for (; kept < items.size(); ++kept) {
    const std::size_t bytes = json_bytes(items[kept]) + 1;
    if (bytes > room) break;
    room -= bytes;
  }
  const bool part_of_first = kept == 0 && !items.empty() && room >= kShortestCut;
  if (part_of_first) cut(items.front(), room);
  items.resize(part_of_first ? 1 : kept);
  return kept;
}

void keep_first_members(json::object& members, std::size_t budget_bytes) {
  std::size_t room = budget_bytes;
  json::object kept;
  for (auto& member : members) {
    const std::size_t bytes = member_bytes(member);
    if (bytes > room) break;
    room -= bytes;
    kept.emplace(member.key(), std::move(member.value()));
  }
  members = std::move(kept);
}

void cut_member(json::object::value_type& member, std::size_t share) {
  const std::size_t key = member_bytes(member) - json_bytes(member.value());
  cut(member.value(), share - std::min(share, key));
}

void cut_object(json::object& members, std::size_t budget_bytes) {
  const std::size_t share = fair_share(members, budget_bytes);
  if (share < kShortestCut)
    return keep_first_members(members, budget_bytes - std::min<std::size_t>(budget_bytes, 2));
  for (auto& member : members)
    if (member_bytes(member) > share) cut_member(member, share);
}

void cut(json::value& value, std::size_t budget_bytes) {
  if (json::array* items = value.if_array()) cut_array(*items, budget_bytes);
  if (json::object* members = value.if_object()) cut_object(*members, budget_bytes);
  if (const json::string* text = value.if_string())
    value =
        std::string(json_prefix(json::view(*text), budget_bytes - std::min<std::size_t>(budget_bytes, 2)));
}

std::string lines_of(const json::array& items) {
  std::string text = "[\n";
  for (const json::value& item : items) text += json::write(item) + (&item == &items.back() ? "\n" : ",\n");
  return text + "]";
}

std::string lines_of(const json::object& members) {
  std::string text = "{\n";
  std::size_t left = members.size();
  for (const auto& member : members)
    text += fmt::format("{}: {}{}\n", json::quote(member.key()), json::write(member.value()),
                        --left > 0 ? "," : "");
  return text + "}";
}

CutMember cut_whole(std::string name, json::value& value, std::size_t budget_bytes) {
  CutMember out{.name = std::move(name)};
  if (json::array* items = value.if_array()) {
    out.unit = CutMember::Unit::items;
    out.whole = lines_of(*items);
    out.total = items->size();
    out.shown = cut_array(*items, budget_bytes);
  } else if (json::object* members = value.if_object()) {
    out.unit = CutMember::Unit::members;
    out.whole = lines_of(*members);
    out.total = members->size();
    cut_object(*members, budget_bytes);
    out.shown = 0;  // which of them are whole is not said
  } else if (const json::string* text = value.if_string()) {
    out.whole = json::view(*text);
    out.total = text->size();
    cut(value, budget_bytes);
    out.shown = value.get_string().size();
  }
  return out;
}

// An upstream's result that is too large is opened up: its text pieces are cut, everything else is passed on
// as it is.
ToolResult opened(const protocol::JsonText& raw) {
  ToolResult reply;
  const auto result = json::parse_object(raw.text());
  if (!result) return reply;
  if (const json::array* pieces = json::find_array(*result, "content")) {
    for (const json::value& piece : *pieces) {
      const json::object* object = piece.if_object();
      const auto text = object && json::find_string(*object, "type") == "text"
                            ? json::find_string(*object, "text")
                            : std::nullopt;
      if (text) reply.content.push_back(protocol::text_content(std::string(*text)));
      if (!text) reply.content.emplace_back(protocol::RawContent{protocol::JsonText::from(piece)});
    }
  }
  if (const json::value* structured = json::find(*result, "structuredContent"))
    reply.structured = *structured;
  if (const json::object* meta = json::find_object(*result, "_meta")) reply.meta = *meta;
  reply.is_error = json::find_bool(*result, "isError").value_or(false);
  return reply;
}

// Pictures and sound are not text: they are passed on whole or not at all.
bool is_media(const protocol::RawContent& piece) {
  const json::object* object = piece.json.value().if_object();
  const auto type = object ? json::find_string(*object, "type") : std::nullopt;
  return type == "image" || type == "audio";
}

std::size_t text_bytes(const std::vector<Content>& content) {
  std::size_t bytes = 0;
  for (const Content& piece : content) {
    if (const auto* text = std::get_if<TextContent>(&piece)) bytes += text->text.size();
    if (const auto* raw = std::get_if<protocol::RawContent>(&piece); raw && !is_media(*raw))
      bytes += raw->json.text().size();
  }
  return bytes;
}

// All text as one, as it is kept and cut.
std::string joined_text(std::vector<Content>& content) {
  std::string joined;
  std::erase_if(content, [&](const Content& piece) {
    const auto* text = std::get_if<TextContent>(&piece);
    const auto* raw = std::get_if<protocol::RawContent>(&piece);
    if (!text && (!raw || is_media(*raw))) return false;
    if (!joined.empty()) joined += '\n';
    joined += text ? std::string_view(text->text) : raw->json.text();
    return true;
  });
  return joined;
}

std::string cut_and_keep(std::string text, const Bounds& bounds) {
  // The URI is needed for the cut and is known only once the text is kept.
  const std::string uri = bounds.results.keep(bounds.principal, text);
  const std::string where =
      bounds.results.how_to_read(uri + "?offset={M}") +
      fmt::format(" (also &length=N, or ?line=N&lines=N), kept for {} minutes", ResultsStore::kept_minutes());
  return bound_text(text, bounds.budget_bytes, where).text;
}

std::string_view name_of(CutMember::Unit unit) {
  switch (unit) {
    case CutMember::Unit::bytes: return "bytes";
    case CutMember::Unit::items: return "items";
    case CutMember::Unit::members: return "members";
  }
  return "";
}

std::string shown_of(const CutMember& cut) {
  const std::string name = cut.name.empty() ? std::string("this result") : cut.name;
  if (cut.unit == CutMember::Unit::members) return fmt::format("{}: whole", name);
  return fmt::format("{}: {} of {} {} shown", name, cut.shown, cut.total, name_of(cut.unit));
}

// "call read with path relay://results/… (stdout: 65000 of 138890 bytes shown), relay://results/… (stderr:
// …)"
std::string rest_of(std::vector<CutMember> cuts, const Bounds& bounds) {
  std::string places;
  for (CutMember& cut : cuts) {
    const std::string uri = bounds.results.keep(bounds.principal, std::move(cut.whole));
    places += fmt::format("{}{}{} ({})", places.empty() ? "" : ", ", uri, cut.query(), shown_of(cut));
  }
  return bounds.results.how_to_read(places);
}

// A tool of ours may have said already that there is more, and how to get it.
bool has_room_for_rest(const json::object& structure) {
  const json::value* said = json::find(structure, "truncated");
  const json::value* rest = json::find(structure, "rest");
  return (!said || said->is_bool()) && (!rest || (said && rest->is_string()));
}

void say_rest(json::object& members, std::string rest) {
  if (const auto said = json::find_string(members, "rest")) rest = fmt::format("{}; {}", *said, rest);
  members["truncated"] = true;
  members["rest"] = std::move(rest);
}

bool fits(const protocol::JsonText* output_schema, const json::value& structure) {
  if (!output_schema) return true;
  const auto schema = protocol::Schema::compile(output_schema->value());
  return !schema || schema->check(structure).empty();  // a schema that nobody understands nobody checks
}

// Where the structure has no room for the two members they stand in _meta: an upstream's schema may forbid
// members that it does not name, and an upstream may have members of these names.
bool place_rest(ToolResult& reply, const Bounds& bounds, std::string rest) {
  json::object& structure = reply.structured->get_object();
  if (has_room_for_rest(structure)) {
    json::value with_rest = structure;
    say_rest(with_rest.get_object(), rest);
    if (reply.is_error || fits(bounds.output_schema, with_rest)) {
      reply.structured = std::move(with_rest);
      return true;
    }
  }
  say_rest(reply.meta, std::move(rest));
  return reply.is_error || fits(bounds.output_schema, *reply.structured);
}

// The structure stays only if it can be cut so that clients which check the output schema still take it.
// Otherwise the result becomes an error, which needs no structure, and its text has everything.
void bound_structured(ToolResult& reply, const Bounds& bounds) {
  if (!reply.structured) return;
  std::string text = json::write(*reply.structured);
  if (text.size() <= bounds.budget_bytes) return;
  const std::size_t room = bounds.budget_bytes - std::min(kRestBytes, bounds.budget_bytes / 2);
  if (json::object* structure = reply.structured->if_object()) {
    std::vector<CutMember> cuts = bound_structure(*structure, room);
    if (json_bytes(*reply.structured) <= room && place_rest(reply, bounds, rest_of(std::move(cuts), bounds)))
      return;
  }
  if (reply.content.empty()) reply.content.push_back(protocol::text_content(std::move(text)));
  reply.structured.reset();
  reply.is_error = true;
}

bool is_over(const ToolResult& reply, std::size_t budget_bytes) {
  return text_bytes(reply.content) > budget_bytes ||
         (reply.structured && json_bytes(*reply.structured) > budget_bytes);
}

}  // namespace

Bounded bound_text(std::string_view text, std::size_t budget_bytes, std::string_view where) {
  if (text.size() <= budget_bytes) return {std::string(text), text.size(), text.size()};
  // With the largest number in every place, the marker is as long as it can get.
  const std::size_t reserved = marker(text.size(), text.size(), where).size();
  const std::size_t room = budget_bytes > reserved ? budget_bytes - reserved : budget_bytes;
  const std::string_view shown = utf8_prefix(text, room);
  Bounded result{std::string(shown), text.size(), shown.size()};
  if (budget_bytes > reserved) result.text += marker(text.size(), shown.size(), where);
  return result;
}

std::string_view json_prefix(std::string_view text, std::size_t max_bytes) {
  std::size_t used = 0, at = 0;
  while (at < text.size() && (used += escaped_bytes(text[at])) <= max_bytes) ++at;
  return utf8_prefix(text, at);
}

std::string CutMember::query() const {
  switch (unit) {
    case Unit::bytes: return fmt::format("?offset={}", shown);
    case Unit::items: return shown == 0 ? std::string() : fmt::format("?line={}", shown + 2);  // after "["
    case Unit::members: return {};
  }
  return {};
}

std::vector<CutMember> bound_structure(json::object& structure, std::size_t budget_bytes) {
  if (json::write(structure).size() <= budget_bytes) return {};
  const std::size_t share = fair_share(structure, budget_bytes);
  const auto is_large = [share](const auto& member) { return member_bytes(member) > share; };
  const auto large = static_cast<std::size_t>(std::ranges::count_if(structure, is_large));
  if (share < kShortestCut || large > kCutsNamed) {
    CutMember all{.whole = lines_of(structure), .unit = CutMember::Unit::members, .total = structure.size()};
    cut_object(structure, budget_bytes);
    return {std::move(all)};
  }
  std::vector<CutMember> cuts;
  for (auto& member : structure) {
    if (!is_large(member)) continue;
    const std::size_t key = member_bytes(member) - json_bytes(member.value());
    cuts.push_back(cut_whole(std::string(member.key()), member.value(), share - key));
  }
  return cuts;
}

void bound(ToolResult& reply, const Bounds& bounds) {
  if (bounds.budget_bytes == kNoBudget) return;
  if (reply.raw) {
    if (reply.raw->text().size() <= bounds.budget_bytes) return;
    ToolResult open = opened(*reply.raw);
    if (!is_over(open, bounds.budget_bytes)) return;
    reply = std::move(open);
  }
  bound_structured(reply, bounds);
  if (text_bytes(reply.content) <= bounds.budget_bytes) return;
  std::string text = cut_and_keep(joined_text(reply.content), bounds);
  reply.content.insert(reply.content.begin(), protocol::text_content(std::move(text)));
}

// A resource is read by a client that chose to; it has the larger budget, and is cut the same way.
void bound(protocol::ReadResult& reply, const Bounds& bounds) {
  if (reply.raw) return;
  for (protocol::ResourceContents& contents : reply.contents) {
    auto* text = std::get_if<std::string>(&contents.body);
    if (text && text->size() > bounds.budget_bytes) *text = cut_and_keep(std::move(*text), bounds);
  }
}

void bound(protocol::PromptResult& reply, const Bounds& bounds) {
  if (reply.raw) return;
  for (protocol::PromptMessage& message : reply.messages) {
    auto* text = std::get_if<TextContent>(&message.content);
    if (text && text->text.size() > bounds.budget_bytes)
      text->text = cut_and_keep(std::move(text->text), bounds);
  }
}

}  // namespace relay::pipeline
