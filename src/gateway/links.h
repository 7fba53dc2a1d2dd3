// Links: resources that servers pointed to in their results without listing them. A client that follows such
// a link must get to the server that gave it out, and to no other. Bounded; the oldest are forgotten.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "protocol/json_text.h"

namespace relay::gateway {

class Links {
 public:
  explicit Links(std::size_t max_links = 4096) : max_links_(max_links) {}

  /// Looks for resource links and embedded resources in the content of a result.
  void note(const std::string& server, const protocol::JsonText& result);
  /// The name of the server, empty when nobody gave the link out.
  [[nodiscard]] std::string find(std::string_view uri) const;

 private:
  void add(const std::string& server, std::string_view uri);

  std::size_t max_links_;
  std::unordered_map<std::string, std::string> server_by_uri_;
  std::deque<std::string> order_;
};

}  // namespace relay::gateway
