#include "executors/done_frame.h"

#include <algorithm>

#include "base/bytes.h"

namespace relay::executors {
namespace {

constexpr std::size_t kTypeBytes = 200;

std::string bounded(std::optional<std::string_view> text, std::size_t max_bytes) {
  return std::string(utf8_prefix(text.value_or(""), max_bytes));
}

RunFailure parse_failure(const json::object& error) {
  RunFailure failure;
  failure.type = bounded(json::find_string(error, "type"), kTypeBytes);
  failure.message = bounded(json::find_string(error, "message"), limits::kRunErrorBytes);
  failure.stack = bounded(json::find_string(error, "stack"), limits::kRunErrorBytes);
  if (failure.type.empty()) failure.type = "Error";
  return failure;
}

double bounded_number(const json::object& object, std::string_view key) {
  return std::clamp(json::find_number(object, key).value_or(0), 0.0, 1e12);
}

}  // namespace

Result<void> apply_done_header(std::string_view header, RunOutcome& outcome) {
  const json::ParseLimits done_limits{.depth = limits::kJsonDepth, .bytes = limits::kFrameBytesFromChild};
  RELAY_TRY(const json::object done, json::parse_object(header, done_limits));
  const std::optional<std::int64_t> exit_code = json::find_int(done, "exitCode");
  if (!exit_code) return fail(invalid("done without an exit code"));
  outcome.exit_code = static_cast<int>(std::clamp<std::int64_t>(*exit_code, 0, 255));
  if (const auto value = json::find_text(header, "value")) outcome.value_json = std::string(*value);
  outcome.value_text = json::find_string(done, "valueText").value_or("");  // as long as the frame lets it be
  if (const json::object* error = json::find_object(done, "error")) outcome.error = parse_failure(*error);
  if (const json::object* usage = json::find_object(done, "usage")) {
    outcome.usage.cpu_ms = bounded_number(*usage, "cpuMs");
    outcome.usage.mem_peak_mb = bounded_number(*usage, "memPeakMb");
  }
  return {};
}

}  // namespace relay::executors
