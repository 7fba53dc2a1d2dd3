// The bytes of a response head, written by hand into one string: the hot path of every answer.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace relay::net {

/// How the peer finds the end of the body.
enum class Framing {
  length,   // Content-Length
  chunked,  // Transfer-Encoding: chunked
  close,    // the end of the connection: a stream to an HTTP/1.0 peer
  none,     // this status has no body at all
};

enum class AfterAnswer { keep, keep_said, close };  // keep_said: an HTTP/1.0 peer has to be told

struct HeadShape {
  Framing framing = Framing::length;
  std::size_t content_length = 0;
  AfterAnswer after = AfterAnswer::keep;
};

/// Fields about framing are ours: the handler's Content-Length, Transfer-Encoding, Connection and Date
/// are skipped. A line break inside a value becomes a space, so no value can make a field of its own.
void append_head(std::string& out, int status, const Headers& headers, const HeadShape& shape,
                 std::string_view date);

/// "5\r\n": what stands before a chunk of that many bytes.
void append_chunk_size(std::string& out, std::size_t bytes);

/// The Date field's value, made once a second. It asks the system for the time, and not a Clock: nobody
/// decides anything by this text, and the peer wants the true one.
class DateText {
 public:
  std::string_view now();

 private:
  std::time_t second_ = -1;
  std::string text_;
};

}  // namespace relay::net
