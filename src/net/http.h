// HTTP as values: what a request and a response are, on either side of the wire. No Beast, no curl, no
// socket; pure, safe from any thread. Header names and targets in a request were checked by the parser
// already; what a handler puts into a response is checked when it is written.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace relay::net {

/// Header fields in their order; names compare without case.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  /// The first one of that name.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> find_all(std::string_view name) const;
  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  /// Replaces every one of that name.
  void set(std::string_view name, std::string value);
  void remove(std::string_view name);
  /// Keeps the memory for the next message.
  void clear() { fields_.clear(); }

  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }
  [[nodiscard]] std::size_t size() const { return fields_.size(); }

 private:
  std::vector<Field> fields_;
};

struct HttpRequest {
  std::string method;  // "GET", as sent
  std::string target;  // "/a%20b?c=d", as sent
  std::string path;    // "/a b": decoded; a target that cannot be decoded never reaches a handler
  std::string query;   // "c=d", raw
  Headers headers;
  std::string remote_address;  // "127.0.0.1"
  bool secure = false;         // came over TLS
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
};

/// The value of a query parameter, decoded.
std::optional<std::string> find_query(std::string_view query, std::string_view name);

/// Percent-decoding; nothing when it is malformed or holds a NUL.
std::optional<std::string> find_percent_decoded(std::string_view text);

std::string_view reason_phrase(int status);

/// True for a method or header name: letters, digits and a few signs.
bool is_http_token(std::string_view text);

HttpResponse json_response(int status, std::string body);
HttpResponse text_response(int status, std::string body);
/// {"error":{"type":"PolicyDenied","message":"..."}} with the status that belongs to the kind.
HttpResponse error_response(const Error& error);

}  // namespace relay::net
