#include "gateway/links.h"

#include "base/limits.h"

namespace relay::gateway {
namespace {

std::optional<std::string_view> uri_of(const json::value& piece) {
  const json::object* block = piece.if_object();
  if (!block) return std::nullopt;
  const auto type = json::find_string(*block, "type");
  if (type == "resource_link") return json::find_string(*block, "uri");
  const json::object* embedded = type == "resource" ? json::find_object(*block, "resource") : nullptr;
  return embedded ? json::find_string(*embedded, "uri") : std::nullopt;
}

}  // namespace

void Links::note(const std::string& server, const protocol::JsonText& result) {
  // Both types begin with it; results without it, nearly all, are not parsed.
  if (!result.text().contains("\"resource")) return;
  const json::object* members = result.value().if_object();
  const json::array* content = members ? json::find_array(*members, "content") : nullptr;
  if (!content) return;
  for (const json::value& piece : *content)
    if (const auto uri = uri_of(piece)) add(server, *uri);
}

void Links::add(const std::string& server, std::string_view uri) {
  if (uri.size() > limits::kUriBytes) return;
  const auto [entry, is_new] = server_by_uri_.insert_or_assign(std::string(uri), server);
  if (!is_new) return;
  order_.push_back(entry->first);
  if (order_.size() <= max_links_) return;
  server_by_uri_.erase(order_.front());
  order_.pop_front();
}

std::string Links::find(std::string_view uri) const {
  const auto found = server_by_uri_.find(std::string(uri));
  return found == server_by_uri_.end() ? std::string() : found->second;
}

}  // namespace relay::gateway
