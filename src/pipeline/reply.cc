#include "pipeline/reply.h"

#include "base/bytes.h"
#include "base/digest.h"

namespace relay::pipeline {

using protocol::Content;
using protocol::PromptResult;
using protocol::ReadResult;
using protocol::TextContent;
using protocol::ToolResult;

namespace {

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
