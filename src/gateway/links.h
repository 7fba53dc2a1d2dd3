// Links: which server a URI belongs to. Servers list resources, and point to others in their results without
// listing them. A client that follows such a link must get to the server that gave it out, and to no other:
// where a URI is another server's already, the link is passed on with the name of its own server in front.
// Bounded; the oldest links are forgotten. Loop thread only.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "protocol/json_text.h"

namespace relay::gateway {

/// "files+test://x"
std::string moved_uri(std::string_view server, std::string_view uri);

/// The result of resources/read with the name of its server before each URI.
protocol::JsonText move_contents(std::string_view server, const protocol::JsonText& result);

class Links {
 public:
  explicit Links(std::size_t max_links = 4096) : max_links_(max_links) {}

  /// The server of each URI that is listed, instead of those before.
  void set_listed(std::map<std::string, std::string, std::less<>> server_by_uri) {
    listed_ = std::move(server_by_uri);
  }
  /// Notes the resource links and embedded resources of a tool's or prompt's result. Gives the result with
  /// the URIs that clients use; mostly that is the same text.
  protocol::JsonText claim(const std::string& server, protocol::JsonText result);
  /// The name of the server, empty when nobody gave the link out.
  [[nodiscard]] std::string find(std::string_view uri) const;

 private:
  /// True when the URI is another server's.
  bool is_taken(const std::string& server, std::string_view uri) const;
  bool claim_block(const std::string& server, json::value& piece);
  void add(const std::string& server, std::string_view uri);

  std::size_t max_links_;
  std::map<std::string, std::string, std::less<>> listed_;
  std::unordered_map<std::string, std::string> server_by_uri_;
  std::deque<std::string> order_;
};

}  // namespace relay::gateway
