// Arguments: what a call is called with, as one value: the bytes that the caller sent and the tree they mean.
//
// Policy, the digest and the audit line read the tree; whoever passes the call on sends the bytes. Both
// belong to one value that never changes, so what was judged is, byte for byte, what is sent. Copies share
// it. A text that names a member of an object twice has no single tree, and parse() refuses it.
//
// The part that is not there at first (the bytes of a call that relay makes itself, the place of the
// arguments in a message) is worked out on first use and kept. Loop thread only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::authority {

class Arguments {
 public:
  /// {}
  Arguments();
  /// Made by relay itself: the bytes are the compact form of the tree.
  Arguments(json::object tree);  // NOLINT(google-explicit-constructor): a tree is a complete value
  /// Fails when the text is not one JSON object, or names a member twice.
  static Result<Arguments> parse(std::string text);
  /// The member params.arguments of a JSON-RPC message that was parsed strictly; `tree` is what it was parsed
  /// to.
  static Arguments of_message(std::shared_ptr<const std::string> message, json::object tree);

  /// The bytes as the caller sent them.
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] const json::object& object() const;
  /// The same as a value, for schema checks.
  [[nodiscard]] const json::value& value() const;

 private:
  struct State;
  explicit Arguments(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace relay::authority
