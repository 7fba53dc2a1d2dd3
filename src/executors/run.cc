#include "executors/run.h"

namespace relay::executors {

std::string_view name_of(Language language) {
  switch (language) {
    case Language::js: return "js";
    case Language::py: return "py";
  }
  return "unknown";
}

}  // namespace relay::executors
