// IdScanner: finds the id of a request that cannot be parsed, so that the refusal reaches the call it is
// about.
//
// It reads a message piece by piece and keeps only the id: the message may be over every limit. A text that
// is no object, names two ids, or has no `method` gives the null id. (Without a method it is an answer, and
// its id is one of ours.) What it finds is never used to run something.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/jsonrpc.h"

namespace relay::protocol {

class IdScanner {
 public:
  void feed(std::string_view bytes);
  /// Of the members that are complete so far.
  [[nodiscard]] Id id() const;

 private:
  void take(char c);
  void take_in_string(char c);
  void keep(char c);
  void end_member();

  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool is_value_ = false;   // after the colon of a member
  bool is_object_ = false;  // the text began with a brace
  bool has_method_ = false;
  int ids_ = 0;
  std::string token_;  // of the outermost object: a key or a scalar as it is spelled, cut when it is too long
  std::string key_;
  std::string id_text_;
};

}  // namespace relay::protocol
