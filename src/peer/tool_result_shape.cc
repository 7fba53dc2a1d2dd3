#include "peer/tool_result_shape.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::peer {
namespace {

Error no_result(std::string_view why) {
  return unavailable(fmt::format("the server's answer is no result of a tool: {}", why));
}

bool is_block(const json::value& piece) {
  const json::object* block = piece.if_object();
  return block && json::find_string(*block, "type").has_value();
}

// Nothing: it is one already.
Result<std::optional<json::array>> mend_content(const json::value* content) {
  if (!content || content->is_null()) return json::array();
  if (content->is_string()) return json::array{json::object{{"type", "text"}, {"text", *content}}};
  if (is_block(*content)) return json::array{*content};
  const json::array* blocks = content->if_array();
  if (!blocks) return fail(no_result("content is no list"));
  if (!std::ranges::all_of(*blocks, is_block))
    return fail(no_result("content holds something that is no block with a type"));
  return std::nullopt;
}

}  // namespace

Result<protocol::JsonText> shape_tool_result(std::string_view text, const json::value& members) {
  const json::object* result = members.if_object();
  if (!result) return fail(no_result("it is no object"));
  const json::value* flag = json::find(*result, "isError");
  if (flag && !flag->is_bool()) return fail(no_result("isError is neither true nor false"));
  RELAY_TRY(auto content, mend_content(json::find(*result, "content")));
  if (!content) return protocol::JsonText::trusted(std::string(text));
  json::object mended = *result;
  mended["content"] = *std::move(content);
  return protocol::JsonText::from(mended);
}

}  // namespace relay::peer
