// Content: the pieces that tool results, prompts and sampling messages are made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "protocol/json_text.h"
#include "protocol/revision.h"

namespace relay::protocol {

struct Icon {
  std::string src;
  std::string mime_type;
  std::vector<std::string> sizes;
  std::string theme;  // "light", "dark" or empty
};

/// Hints about who a piece is for and how much it matters.
struct Annotations {
  std::vector<std::string> audience;  // "user", "assistant"
  std::optional<double> priority;     // 0..1
  std::string last_modified;          // ISO 8601
  [[nodiscard]] bool empty() const { return audience.empty() && !priority && last_modified.empty(); }
};

/// What a resource holds. Binary data is raw here; base64 is made when it is written.
struct ResourceContents {
  std::string uri;
  std::string mime_type;
  std::variant<std::string, std::vector<std::byte>> body;  // text, or bytes
  json::object meta;
};

struct Resource {
  std::string uri;
  std::string name;
  std::string title;
  std::string description;
  std::string mime_type;
  std::optional<std::int64_t> size;
  Annotations annotations;
  std::vector<Icon> icons;
  json::object meta;
  /// An entry of somebody else's list, passed on byte for byte; the fields above are then only looked at,
  /// except for the uri, which replaces the one in it.
  std::optional<JsonText> raw;
};

struct TextContent {
  std::string text;
  Annotations annotations;
};
struct ImageContent {
  std::string base64;
  std::string mime_type;
  Annotations annotations;
};
struct AudioContent {
  std::string base64;
  std::string mime_type;
  Annotations annotations;
};
struct EmbeddedResource {
  ResourceContents resource;
  Annotations annotations;
};
/// Written as text for revisions before 2025-06-18, which do not know links.
struct ResourceLink {
  Resource resource;
};
/// A piece from elsewhere, passed on byte for byte: an upstream's content, a sampling block.
struct RawContent {
  JsonText json;
};

using Content =
    std::variant<TextContent, ImageContent, AudioContent, EmbeddedResource, ResourceLink, RawContent>;

inline Content text_content(std::string text) {
  return TextContent{std::move(text), {}};
}
Content image_content(std::string_view bytes, std::string mime_type);
Content audio_content(std::string_view bytes, std::string mime_type);

// Writing: each appends one JSON value.
void append_json(std::string& out, const Icon& icon);
void append_json(std::string& out, const Annotations& annotations);
void append_json(std::string& out, const ResourceContents& contents);
void append_json(std::string& out, const Resource& resource, Revision revision);
void append_json(std::string& out, const Content& content, Revision revision);

}  // namespace relay::protocol
