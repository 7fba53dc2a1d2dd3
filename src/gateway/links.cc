#include "gateway/links.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"

namespace relay::gateway {
namespace {

json::value* find_uri(json::value& piece) {
  json::object* block = piece.if_object();
  if (!block) return nullptr;
  const auto type = json::find_string(*block, "type");
  json::value* holder = type == "resource" ? block->if_contains("resource") : &piece;
  if ((type != "resource" && type != "resource_link") || !holder || !holder->is_object()) return nullptr;
  json::value* uri = holder->get_object().if_contains("uri");
  return uri && uri->is_string() ? uri : nullptr;
}

// The blocks of a tool's result and of a prompt's messages.
template <class Visit>
void visit_blocks(json::object& result, Visit visit) {
  if (json::value* content = result.if_contains("content"); content && content->is_array())
    for (json::value& piece : content->get_array()) visit(piece);
  if (json::value* messages = result.if_contains("messages"); messages && messages->is_array())
    for (json::value& message : messages->get_array())
      if (message.is_object())
        if (json::value* piece = message.get_object().if_contains("content")) visit(*piece);
}

}  // namespace

std::string moved_uri(std::string_view server, std::string_view uri) {
  std::string scheme(server);
  std::ranges::replace(scheme, '_', '-');  // which a scheme may not have
  return fmt::format("{}+{}", scheme, uri);
}

protocol::JsonText move_contents(std::string_view server, const protocol::JsonText& result) {
  json::value moved = result.value();
  json::object* members = moved.if_object();
  json::value* contents = members ? members->if_contains("contents") : nullptr;
  if (!contents || !contents->is_array()) return result;
  for (json::value& piece : contents->get_array()) {
    json::value* uri = piece.is_object() ? piece.get_object().if_contains("uri") : nullptr;
    if (uri && uri->is_string()) *uri = moved_uri(server, json::view(uri->get_string()));
  }
  return protocol::JsonText::from(moved);
}

protocol::JsonText Links::claim(const std::string& server, protocol::JsonText result) {
  // Both types begin with it; results without it, nearly all, are not parsed.
  if (!result.text().contains("\"resource") || !result.value().is_object()) return result;
  json::value moved = result.value();
  bool has_moved = false;
  visit_blocks(moved.get_object(), [&](json::value& piece) { has_moved |= claim_block(server, piece); });
  return has_moved ? protocol::JsonText::from(moved) : result;
}

bool Links::claim_block(const std::string& server, json::value& piece) {
  json::value* uri = find_uri(piece);
  if (!uri) return false;
  const std::string_view text = json::view(uri->get_string());
  if (!is_taken(server, text)) {
    add(server, text);
    return false;
  }
  *uri = moved_uri(server, text);
  return true;
}

bool Links::is_taken(const std::string& server, std::string_view uri) const {
  if (const auto listed = listed_.find(uri); listed != listed_.end()) return listed->second != server;
  const std::string giver = find(uri);
  return !giver.empty() && giver != server;
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
