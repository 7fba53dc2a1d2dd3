// Reading one item of a list: its bytes are kept whole (`raw`), what Relay looks at is read from them.
// Lenient: a member of the wrong type is not there. An item without a name is an error that says which.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/listing.h"
#include "protocol/tool.h"
#include "upstream/server_spec.h"

namespace relay::upstream {

/// Also fails over limits::kUpstreamToolBytes.
Result<protocol::Tool> parse_tool(const protocol::JsonText& text);
Result<std::optional<protocol::Resource>> parse_resource(const protocol::JsonText& text);
Result<std::optional<protocol::ResourceTemplate>> parse_template(const protocol::JsonText& text);
Result<std::optional<protocol::Prompt>> parse_prompt(const protocol::JsonText& text);

/// By the spec's globs: deny beats allow, and an empty allow list means all.
bool is_admitted(const ServerSpec& spec, std::string_view tool);
/// Fails where a modern HTTP client must drop the tool.
Result<void> check_header_params(const protocol::Tool& tool);

/// Adds the elements of the array `member` of a JSON object as they are spelled, up to limits::kUpstreamItems
/// in all. Precondition: valid JSON.
void append_items(std::vector<protocol::JsonText>& items, std::string_view object, std::string_view member);

/// The items that could be read; what is dropped is said.
template <class T, class Read>
std::shared_ptr<const std::vector<T>> read_items(const std::vector<protocol::JsonText>& texts,
                                                 std::vector<std::string>& oddities, Read read) {
  std::vector<T> items;
  items.reserve(texts.size());
  for (const protocol::JsonText& text : texts) {
    Result<std::optional<T>> item = read(text);
    if (!item)
      oddities.push_back(std::move(item.error().message));
    else if (*item)
      items.push_back(std::move(**item));
  }
  return std::make_shared<const std::vector<T>>(std::move(items));
}

enum class HeaderParams : std::uint8_t { ignore, check };
/// Those that the spec admits, each name once.
std::shared_ptr<const std::vector<protocol::Tool>> read_tools(const std::vector<protocol::JsonText>& texts,
                                                              const ServerSpec& spec, HeaderParams params,
                                                              std::vector<std::string>& oddities);

inline constexpr std::size_t kOdditiesMax = 50;

}  // namespace relay::upstream
