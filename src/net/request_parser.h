// The request parser: bytes in any pieces become one HttpRequest and its body. No socket, no clock: it is
// what we fuzz. Beast's grammar does the work (request_parser.cc is the only file that includes it); on top
// of it stand the rules that keep two parsers of one stream from disagreeing: one Host, one framing, no
// unknown codings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace relay::net {

/// Why a request is not taken, as the peer is told. The connection cannot be used any more.
struct BadRequest {
  int status;
  std::string_view reason;
};

class RequestParser {
 public:
  explicit RequestParser(std::size_t max_header_bytes);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  /// Forgets the request that is done; the next byte begins another one. Memory is kept.
  void reset();

  /// Takes bytes from the front of what has arrived and says how many; the rest is given again, with more
  /// behind it. Never goes beyond the end of the head, or of the body once the head is done.
  std::expected<std::size_t, BadRequest> feed(std::string_view bytes);

  [[nodiscard]] bool begun() const;      // a byte of this request was taken or looked at
  [[nodiscard]] bool head_done() const;  // request() is complete
  [[nodiscard]] bool done() const;       // the body is, too

  HttpRequest& request();
  [[nodiscard]] bool keep_alive() const;
  [[nodiscard]] bool expects_continue() const;
  [[nodiscard]] bool is_http_1_0() const;
  [[nodiscard]] bool is_head() const;
  /// What the head announces: nothing for a chunked body, 0 when there is no body.
  [[nodiscard]] std::optional<std::uint64_t> content_length() const;

  /// Body bytes are kept up to this many; one more is a BadRequest with 413. Without it they are thrown away.
  void keep_body(std::size_t max_bytes);
  [[nodiscard]] std::string take_body();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace relay::net
