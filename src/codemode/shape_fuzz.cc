// "schema or sample, and another one after a NUL byte": whatever a server declares becomes a type that can be
// written down, and what is learned from results does not depend on their order.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/limits.h"
#include "codemode/learned_shape.h"
#include "codemode/python_stub.h"
#include "codemode/shape.h"
#include "codemode/typescript.h"

using namespace relay;

namespace {

void write_down(const json::value& schema) {
  const codemode::Shape shape = codemode::shape_of(schema);
  const std::string method = codemode::typescript_method("tool", "", shape, &shape, "");
  const std::string function = codemode::PythonStub().function("tool", "", shape, &shape);
  if (method.empty() || function.empty()) std::abort();
}

void check_learned(const json::value& a, const json::value& b) {
  const json::value one = codemode::learned_from(a), two = codemode::learned_from(b);
  const json::value both = codemode::merged_schemas(one, two);
  if (both != codemode::merged_schemas(two, one)) std::abort();
  if (codemode::merged_schemas(both, one) != both || codemode::merged_schemas(both, both) != both)
    std::abort();
  if (json::write(codemode::bounded_schema(both)).size() > limits::kLearnedTypeBytes) std::abort();
  write_down(both);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = std::min(text.find('\0'), text.size());
  const auto first = json::parse(text.substr(0, split));
  if (!first) return 0;
  const auto second = json::parse(text.substr(std::min(split + 1, text.size())));
  write_down(*first);
  check_learned(*first, second ? *second : *first);
  return 0;
}
