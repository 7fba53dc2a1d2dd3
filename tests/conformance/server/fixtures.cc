#include "fixtures.h"

#include "base/bytes.h"

namespace relay::conformance {

protocol::Tool describe_tool(std::string name, std::string description, std::string input_schema) {
  protocol::Tool tool;
  tool.name = std::move(name);
  tool.description = std::move(description);
  tool.input_schema = protocol::JsonText::trusted(std::move(input_schema));
  return tool;
}

protocol::ElicitForm make_form(std::string message, std::string schema) {
  return {std::move(message), protocol::JsonText::trusted(std::move(schema))};
}

protocol::SampleRequest make_sample(std::string prompt, std::int64_t max_tokens) {
  protocol::SampleRequest request;
  request.messages.push_back({"user", {protocol::text_content(std::move(prompt))}});
  request.max_tokens = max_tokens;
  return request;
}

std::string text_argument(const json::object& arguments, std::string_view name) {
  return std::string(json::find_string(arguments, name).value_or(""));
}

std::string_view png_bytes() {
  static const std::string bytes = *find_base64(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==");
  return bytes;
}

std::string_view wav_bytes() {
  static const std::string bytes =
      *find_base64("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==");
  return bytes;
}

}  // namespace relay::conformance
