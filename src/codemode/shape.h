// Shape: what a JSON Schema says about a value, reduced to what a type in a programming language can say.
//
// The schema comes from an upstream server and may be hostile: expansion of `$ref` is bounded in depth and in
// the number of nodes, a reference to itself ends as `any`, and nothing is ever fetched. Keywords that no
// type can express (pattern, minimum) are left out; the whole schema is still there for who asks for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace relay::codemode {

struct ShapeMember;

struct Shape {
  enum class Kind : std::uint8_t {
    any,
    never,
    null,
    boolean,
    integer,
    number,
    string,
    literal,  // one JSON value
    array,    // parts[0]: the items
    tuple,    // parts: the items in order
    object,   // members; parts[0], if there, is the type of all other members
    choice,   // parts: one of them
    all,      // parts: each of them
  };
  Kind kind = Kind::any;
  json::value literal = nullptr;
  std::vector<Shape> parts;
  std::vector<ShapeMember> members;

  [[nodiscard]] bool is_object() const { return kind == Kind::object; }
};

struct ShapeMember {
  std::string name;
  Shape shape;
  bool required = false;
  std::string description;
};

/// The schema as a Shape. Anything that is no schema is `any`.
Shape shape_of(const json::value& schema);

}  // namespace relay::codemode
