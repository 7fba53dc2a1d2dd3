// Schema: a compiled JSON Schema (2020-12, and the spellings of draft 7 that are still around).
//
// A schema is compiled once, at start-up or when a tool list arrives, and used for every call. Both the
// schema and the value may come from an attacker: a `$ref` that leaves the document is refused and nothing is
// ever fetched, patterns run in linear time (RE2), and the work of one check is bounded. Not checked:
// `format` (an annotation by default), `unevaluated*`, `$dynamicRef`, and patterns that RE2 does not know;
// whoever owns the tool still sees them, because schemas are passed on as text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace relay::protocol {

struct SchemaProblem {
  std::string path;     // "$.mounts[0].name"
  std::string message;  // "missing required property 'name'"
};

/// "$.a: must be a string; $.b: ..." for tool errors.
std::string describe(const std::vector<SchemaProblem>& problems);

class Schema {
 public:
  static Result<Schema> compile(const json::value& schema);
  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  /// Empty when the value conforms. At most max_problems are reported, the first ones.
  [[nodiscard]] std::vector<SchemaProblem> check(const json::value& value,
                                                 std::size_t max_problems = 16) const;
  /// Copies the object; where speed matters, move it into a value and out again.
  [[nodiscard]] std::vector<SchemaProblem> check(const json::object& value,
                                                 std::size_t max_problems = 16) const;

  struct Compiled;

 private:
  explicit Schema(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace relay::protocol
