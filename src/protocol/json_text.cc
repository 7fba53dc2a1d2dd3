#include "protocol/json_text.h"

#include "protocol/json_writer.h"

#include <optional>

namespace relay::protocol {

struct JsonText::Shared {
  std::string text;
  std::optional<json::value> parsed;
};

JsonText::JsonText() : JsonText(trusted("{}")) {}

Result<JsonText> JsonText::parse(std::string text) {
  RELAY_TRY(json::value parsed, json::parse(text));
  return JsonText(std::make_shared<Shared>(std::move(text), std::move(parsed)));
}

JsonText JsonText::trusted(std::string text) {
  return JsonText(std::make_shared<Shared>(std::move(text), std::nullopt));
}

JsonText JsonText::from(const json::value& value) {
  return JsonText(std::make_shared<Shared>(json::write(value), value));
}

std::string_view JsonText::text() const {
  return shared_->text;
}

const json::value& JsonText::value() const {
  if (!shared_->parsed) shared_->parsed = boost::json::parse(shared_->text);
  return *shared_->parsed;
}

void append_with_text(std::string& out, const JsonText& object, std::string_view key, std::string_view text) {
  ObjectWriter writer(out);
  writer.text(key, text);
  for (const json::Member& member : json::split_object(object.text()))
    if (member.key != key) writer.raw(member.key, member.text);
  writer.finish();
}

}  // namespace relay::protocol
