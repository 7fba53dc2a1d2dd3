#include "executors/runtime.h"

namespace relay::executors {

std::string_view name_of(Runtime runtime) {
  switch (runtime) {
    case Runtime::quickjs: return "quickjs";
    case Runtime::pyodide: return "pyodide";
    case Runtime::cpython: return "cpython";
  }
  return "";
}

Language language_of(Runtime runtime) {
  return runtime == Runtime::quickjs ? Language::js : Language::py;
}

Runtime default_runtime(Language language) {
  return language == Language::js ? Runtime::quickjs : Runtime::pyodide;
}

}  // namespace relay::executors
