#include "pipeline/reply.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/limits.h"
#include "pipeline/bound.h"
#include "pipeline/results_store.h"

namespace relay::pipeline {

using protocol::Content;
using protocol::PromptResult;
using protocol::ReadResult;
using protocol::TextContent;
using protocol::ToolResult;

namespace {

// Structured content is for programs; it may be larger than what a model reads, but not without end.
constexpr std::size_t kStructuredFactor = 64;  // 4 MiB by default: what a run prints fits whole
constexpr std::size_t kShortestCut = 64;       // strings are not cut below this many bytes

class OutputHash {
 public:
  void add(std::string_view bytes) {
    stream_.update(bytes);
    bytes_ += bytes.size();
  }
  void add(const Content& content) {
    struct Visitor {
      OutputHash& hash;
      void operator()(const TextContent& item) const { hash.add(item.text); }
      void operator()(const protocol::ImageContent& item) const { hash.add(item.base64); }
      void operator()(const protocol::AudioContent& item) const { hash.add(item.base64); }
      void operator()(const protocol::EmbeddedResource& item) const { hash.add(item.resource); }
      void operator()(const protocol::ResourceLink& item) const { hash.add(item.resource.uri); }
      void operator()(const protocol::RawContent& item) const { hash.add(item.json.text()); }
    };
    std::visit(Visitor{*this}, content);
  }
  void add(const protocol::ResourceContents& contents) {
    if (const auto* text = std::get_if<std::string>(&contents.body)) return add(*text);
    add(as_text(std::get<std::vector<std::byte>>(contents.body)));
  }
  authority::Outcome finish() {
    authority::Outcome outcome;
    outcome.output_bytes = bytes_;
    outcome.output_sha256 = to_hex(stream_.finish());
    return outcome;
  }

 private:
  Sha256Stream stream_;
  std::uint64_t bytes_ = 0;
};

std::string how_to_get_the_rest(std::string_view uri) {
  return fmt::format(
      "the rest is resource {}?offset={{M}} (also &length=N, or ?line=N&lines=N), kept for {} minutes", uri,
      std::chrono::duration_cast<std::chrono::minutes>(limits::kResultKept).count());
}

// An upstream's result that is too large is opened up: its text pieces are cut, everything else is passed on
// as it is.
void open_raw(ToolResult& reply) {
  const auto result = json::parse_object(reply.raw->text());
  if (!result) return;
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
  reply.raw.reset();
}

// Cuts every string that is longer than that; the shape, which an output schema describes, stays.
void cut_strings(json::value& value, std::size_t max_bytes) {
  if (json::array* items = value.if_array())
    for (json::value& item : *items) cut_strings(item, max_bytes);
  if (json::object* members = value.if_object())
    for (auto& member : *members) cut_strings(member.value(), max_bytes);
  const json::string* text = value.if_string();
  if (!text || text->size() <= max_bytes) return;
  const std::string_view kept = utf8_prefix(json::view(*text), max_bytes);
  value = fmt::format("{}\n[TRUNCATED - {} bytes total, {} shown]", kept, text->size(), kept.size());
}

void bound_structured(ToolResult& reply, std::size_t budget_bytes) {
  if (!reply.structured) return;
  const std::size_t structured_bytes = budget_bytes * kStructuredFactor;
  std::string text = json::write(*reply.structured);
  bool too_large = text.size() > structured_bytes;
  if (reply.content.empty() && text.size() > budget_bytes)
    reply.content.push_back(protocol::text_content(text));
  for (std::size_t longest = budget_bytes; too_large && longest >= kShortestCut; longest /= 8) {
    cut_strings(*reply.structured, longest);
    too_large = json::write(*reply.structured).size() > structured_bytes;
  }
  if (!too_large) return;
  // A client that checks the output schema would refuse a result without it; an error needs none.
  reply.structured.reset();
  reply.is_error = true;
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

std::string cut_and_keep(std::string text, std::size_t budget_bytes, std::string_view principal,
                         ResultsStore& results) {
  // The URI is needed for the cut and is known only once the text is kept.
  const std::string uri = results.keep(principal, text);
  return bound_text(text, budget_bytes, how_to_get_the_rest(uri)).text;
}

}  // namespace

template <>
Result<ToolResult> refuse(const Refused& refused) {
  return ToolResult::error(refused.text);
}
template <>
Result<ReadResult> refuse(const Refused& refused) {
  return fail(refused.ending == authority::Ending::invalid ? invalid(refused.text) : denied(refused.text));
}
template <>
Result<PromptResult> refuse(const Refused& refused) {
  return fail(refused.ending == authority::Ending::invalid ? invalid(refused.text) : denied(refused.text));
}

void bound(ToolResult& reply, std::size_t budget_bytes, std::string_view principal, ResultsStore& results) {
  if (reply.raw && reply.raw->text().size() <= budget_bytes) return;
  if (reply.raw) open_raw(reply);
  bound_structured(reply, budget_bytes);
  if (text_bytes(reply.content) <= budget_bytes) return;
  std::string text = cut_and_keep(joined_text(reply.content), budget_bytes, principal, results);
  reply.content.insert(reply.content.begin(), protocol::text_content(std::move(text)));
}

// A resource is read by a client that chose to; it has the larger budget, and is cut the same way.
void bound(ReadResult& reply, std::size_t budget_bytes, std::string_view principal, ResultsStore& results) {
  if (reply.raw) return;
  for (protocol::ResourceContents& contents : reply.contents) {
    auto* text = std::get_if<std::string>(&contents.body);
    if (text && text->size() > budget_bytes)
      *text = cut_and_keep(std::move(*text), budget_bytes, principal, results);
  }
}

void bound(PromptResult& reply, std::size_t budget_bytes, std::string_view principal, ResultsStore& results) {
  if (reply.raw) return;
  for (protocol::PromptMessage& message : reply.messages) {
    auto* text = std::get_if<TextContent>(&message.content);
    if (text && text->text.size() > budget_bytes)
      text->text = cut_and_keep(std::move(text->text), budget_bytes, principal, results);
  }
}

authority::Outcome outcome_of(const ToolResult& reply) {
  OutputHash hash;
  if (reply.raw) hash.add(reply.raw->text());
  for (const Content& piece : reply.content) hash.add(piece);
  if (reply.structured && reply.content.empty()) hash.add(json::write(*reply.structured));
  authority::Outcome outcome = hash.finish();
  outcome.ending = reply.is_error ? authority::Ending::error : authority::Ending::ok;
  if (const json::object* members = reply.structured ? reply.structured->if_object() : nullptr) {
    if (const auto code = json::find_int(*members, "exitCode")) outcome.exit_code = static_cast<int>(*code);
    const json::object* error = reply.is_error ? json::find_object(*members, "error") : nullptr;
    if (error && json::find_string(*error, "type") == "Timeout") outcome.ending = authority::Ending::timeout;
  }
  return outcome;
}

authority::Outcome outcome_of(const ReadResult& reply) {
  OutputHash hash;
  if (reply.raw) hash.add(reply.raw->text());
  for (const auto& contents : reply.contents) hash.add(contents);
  return hash.finish();
}

authority::Outcome outcome_of(const PromptResult& reply) {
  OutputHash hash;
  if (reply.raw) hash.add(reply.raw->text());
  for (const auto& message : reply.messages) hash.add(message.content);
  return hash.finish();
}

}  // namespace relay::pipeline
