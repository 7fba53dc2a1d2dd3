#include "imports/document.h"

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::imports {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Result<void> check_text(std::string_view text) {
  if (text.size() > limits::kImportFileBytes) return fail(too_large(fmt::format("larger than {} bytes", limits::kImportFileBytes)));
  if (!is_valid_utf8(text)) return fail(invalid("not valid UTF-8"));
  return {};
}

}  // namespace

Result<json::object> parse_jsonc(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  RELAY_CHECK(check_text(text));
  boost::json::parse_options options;
  options.allow_comments = true;
  options.allow_trailing_commas = true;
  options.max_depth = limits::kJsonDepth;
  boost::system::error_code error;
  boost::json::stream_parser parser({}, options);
  parser.write(text.data(), text.size(), error);
  if (!error) parser.finish(error);
  if (error) return fail(invalid(fmt::format("not valid JSON ({})", error.message())));
  json::value parsed = parser.release();
  if (!parsed.is_object()) return fail(invalid("the top level is not an object"));
  return std::move(parsed.get_object());
}

Result<json::object> parse_document(std::string_view text, Format format) {
  switch (format) {
    case Format::json: return parse_jsonc(text);
    case Format::toml: RELAY_CHECK(check_text(text)); return parse_toml(text);
  }
  return json::object();
}

}  // namespace relay::imports
