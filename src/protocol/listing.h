// What lists are made of besides tools and resources: templates, prompts, and the page a list is cut into.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/content.h"

namespace relay::protocol {

struct ResourceTemplate {
  std::string uri_template;  // RFC 6570, level 1: test://template/{id}/data
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
  Annotations annotations;
  std::vector<Icon> icons;
  json::object meta;
  std::optional<JsonText> raw;  // as in Resource; uri_template replaces the one in it
};

struct PromptArgument {
  std::string name;
  std::string title;
  std::string description;
  bool required = false;
};

struct Prompt {
  std::string name;
  std::string title;
  std::string description;
  std::vector<PromptArgument> arguments;
  std::vector<Icon> icons;
  json::object meta;
  std::optional<JsonText> raw;  // as in Tool; name replaces the one in it
};

struct PromptMessage {
  std::string role;  // "user" or "assistant"
  Content content;
};

struct PromptResult {
  std::string description;
  std::vector<PromptMessage> messages;
  json::object meta;
  std::optional<JsonText> raw;  // a whole result from elsewhere
};

struct ReadResult {
  std::vector<ResourceContents> contents;
  json::object meta;
  std::optional<JsonText> raw;
};

/// What completion is asked for: an argument of a prompt, or a variable of a resource template.
struct CompletionRequest {
  enum class Kind : std::uint8_t { prompt, resource } kind = Kind::prompt;
  std::string ref;  // the prompt's name or the template's URI
  std::string argument;
  std::string value;
  json::object context;  // context.arguments: what was chosen before
};

struct Completion {
  std::vector<std::string> values;  // at most limits::kCompletionValues are sent
  std::optional<std::int64_t> total;
  bool has_more = false;
};

/// Whether a cached answer may be shown to others.
enum class CacheScope : std::uint8_t { shared, owner };

struct Caching {
  std::chrono::milliseconds ttl{0};
  CacheScope scope = CacheScope::owner;
};

/// A whole list; the dispatcher cuts it into pages. Shared, because the same list goes to many clients.
template <class T>
struct Listing {
  std::shared_ptr<const std::vector<T>> items = std::make_shared<const std::vector<T>>();
  Caching caching;
};

void append_json(std::string& out, const ResourceTemplate& item, Revision revision);
void append_json(std::string& out, const Prompt& item, Revision revision);
void append_members(std::string& out, const PromptResult& result, Revision revision);
void append_members(std::string& out, const ReadResult& result, Revision revision);
void append_members(std::string& out, const Completion& completion);
Result<CompletionRequest> parse_completion_request(const json::object& params);

}  // namespace relay::protocol
