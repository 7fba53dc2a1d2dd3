// From a tool's schemas to a Python stub: TypedDicts for the objects in them, and one function. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "codemode/shape.h"

namespace relay::codemode {

/// Writes the functions of one file; class names stay unique across them.
class PythonStub {
 public:
  /// The classes the function needs, then the function itself, which is named by its alias.
  std::string function(std::string_view alias, std::string_view description, const Shape& input,
                       const Shape* output);

 private:
  std::string type(const Shape& shape, const std::string& name);
  std::string object_type(const Shape& shape, const std::string& name);
  std::string choice_type(const Shape& shape, const std::string& name);
  std::string declare(const Shape& shape, const std::string& name);
  std::string parameters(const Shape& input, const std::string& name);

  std::set<std::string, std::less<>> names_;
  std::string classes_;  // of the function that is being written
};

/// What a stub file begins with.
std::string_view python_stub_head();

}  // namespace relay::codemode
