#include "protocol/content.h"

#include "base/bytes.h"
#include "protocol/json_writer.h"

namespace relay::protocol {
namespace {

constexpr auto kAppendIcon = [](std::string& out, const Icon& icon) { append_json(out, icon); };

void write_annotations(ObjectWriter& writer, const Annotations& annotations) {
  if (!annotations.empty()) append_json(writer.key("annotations"), annotations);
}

void write_media(std::string& out, std::string_view type, std::string_view base64, std::string_view mime_type,
                 const Annotations& annotations) {
  ObjectWriter writer(out);
  writer.text("type", type);
  writer.text("data", base64);
  writer.text("mimeType", mime_type);
  write_annotations(writer, annotations);
  writer.finish();
}

void write_resource_members(ObjectWriter& writer, const Resource& resource, Revision revision) {
  writer.text("uri", resource.uri);
  writer.text("name", resource.name);
  if (revision >= Revision::v2025_06_18) writer.text_if("title", resource.title);
  writer.text_if("description", resource.description);
  writer.text_if("mimeType", resource.mime_type);
  if (resource.size) writer.number("size", *resource.size);
  write_annotations(writer, resource.annotations);
  if (revision >= Revision::v2025_11_25 && !resource.icons.empty())
    writer.array("icons", resource.icons, kAppendIcon);
  writer.object_if("_meta", resource.meta);
}

void write_text(std::string& out, std::string_view text, const Annotations& annotations) {
  ObjectWriter writer(out);
  writer.text("type", "text");
  writer.text("text", text);
  write_annotations(writer, annotations);
  writer.finish();
}

void write_content(std::string& out, const TextContent& content, Revision) {
  write_text(out, content.text, content.annotations);
}
void write_content(std::string& out, const ImageContent& content, Revision) {
  write_media(out, "image", content.base64, content.mime_type, content.annotations);
}
void write_content(std::string& out, const AudioContent& content, Revision revision) {
  if (revision < Revision::v2025_03_26)
    return write_text(out, "[audio: " + content.mime_type + "]", content.annotations);
  write_media(out, "audio", content.base64, content.mime_type, content.annotations);
}
void write_content(std::string& out, const EmbeddedResource& content, Revision) {
  ObjectWriter writer(out);
  writer.text("type", "resource");
  append_json(writer.key("resource"), content.resource);
  write_annotations(writer, content.annotations);
  writer.finish();
}
void write_content(std::string& out, const ResourceLink& content, Revision revision) {
  if (revision < Revision::v2025_06_18)
    return write_text(out, content.resource.uri, content.resource.annotations);
  ObjectWriter writer(out);
  writer.text("type", "resource_link");
  write_resource_members(writer, content.resource, revision);
  writer.finish();
}
void write_content(std::string& out, const RawContent& content, Revision) {
  out += content.json.text();
}

}  // namespace

Content image_content(std::string_view bytes, std::string mime_type) {
  return ImageContent{to_base64(bytes), std::move(mime_type), {}};
}
Content audio_content(std::string_view bytes, std::string mime_type) {
  return AudioContent{to_base64(bytes), std::move(mime_type), {}};
}

void append_json(std::string& out, const Icon& icon) {
  ObjectWriter writer(out);
  writer.text("src", icon.src);
  writer.text_if("mimeType", icon.mime_type);
  writer.texts_if("sizes", icon.sizes);
  writer.text_if("theme", icon.theme);
  writer.finish();
}

void append_json(std::string& out, const Annotations& annotations) {
  ObjectWriter writer(out);
  writer.texts_if("audience", annotations.audience);
  if (annotations.priority) writer.number("priority", *annotations.priority);
  writer.text_if("lastModified", annotations.last_modified);
  writer.finish();
}

void append_json(std::string& out, const ResourceContents& contents) {
  ObjectWriter writer(out);
  writer.text("uri", contents.uri);
  writer.text_if("mimeType", contents.mime_type);
  if (const auto* text = std::get_if<std::string>(&contents.body)) {
    writer.text("text", *text);
  } else {
    writer.text("blob", to_base64(as_text(std::get<std::vector<std::byte>>(contents.body))));
  }
  writer.object_if("_meta", contents.meta);
  writer.finish();
}

void append_json(std::string& out, const Resource& resource, Revision revision) {
  if (resource.raw) return append_with_text(out, *resource.raw, "uri", resource.uri);
  ObjectWriter writer(out);
  write_resource_members(writer, resource, revision);
  writer.finish();
}

void append_json(std::string& out, const Content& content, Revision revision) {
  std::visit([&](const auto& piece) { write_content(out, piece, revision); }, content);
}

}  // namespace relay::protocol
