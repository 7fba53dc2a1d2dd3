#include "runs/code_result.h"

#include <cmath>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::runs {
namespace {

using executors::RunOutcome;

constexpr std::size_t kErrorTextBytes = 2 * limits::kKiB;

double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

void add_section(std::string& text, std::string_view title, std::string_view body) {
  if (body.empty()) return;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += fmt::format("{}\n{}", title, to_valid_utf8(body));
}

// Output that is empty is not there: a model reads every member.
void put_output(json::object& out, std::string_view name, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string key(name);
  const bool is_text = is_valid_utf8(bytes);
  out[key] = is_text ? std::string(bytes) : to_base64(bytes);
  if (!is_text) out[key + "Encoding"] = "base64";
}

// What a run printed beyond its limit is gone: the program has to print less, or to a file.
void put_rest(json::object& out, const RunOutcome& outcome) {
  if (!outcome.stdout_truncated && !outcome.stderr_truncated) return;
  const std::string_view what = !outcome.stderr_truncated   ? "stdout"
                                : !outcome.stdout_truncated ? "stderr"
                                                            : "stdout and stderr";
  out["truncated"] = true;
  out["rest"] = fmt::format(
      "{} reached the limit stdoutBytes and the rest is lost; write long output to a file in /out", what);
}

json::object error_json(const executors::RunFailure& error) {
  json::object out{{"type", error.type}, {"message", utf8_prefix(error.message, kErrorTextBytes)}};
  if (!error.stack.empty()) out["stack"] = utf8_prefix(error.stack, kErrorTextBytes);
  return out;
}

json::array artifacts_json(const std::vector<Artifact>& artifacts) {
  json::array list;
  for (const Artifact& artifact : artifacts)
    list.push_back({{"path", artifact.path}, {"bytes", artifact.bytes}, {"type", artifact.mime_type}});
  return list;
}

std::string error_text(const executors::RunFailure& error) {
  const std::string_view body =
      error.stack.empty() ? std::string_view(error.message) : std::string_view(error.stack);
  const std::string_view shown = utf8_prefix(body, kErrorTextBytes);
  return shown.contains(error.type) ? std::string(shown)
                                    : fmt::format("{}: {}", error.type, shown);  // Python names it last
}

// Nothing for what a program without a last expression gives. Numbers, strings and truth values come as JSON
// only.
std::string value_text(const RunOutcome& outcome) {
  if (outcome.exit_code != 0 || outcome.value_text == "undefined" || outcome.value_text == "None") return {};
  if (!outcome.value_text.empty()) return outcome.value_text;
  return outcome.value_json && *outcome.value_json != "null" ? *outcome.value_json : std::string();
}

// An uncaught error is also what the program wrote last.
std::string_view without_error(std::string_view written, std::string_view error) {
  const std::string_view end = trim_ascii(written);
  return !error.empty() && end.ends_with(error) ? trim_ascii(end.substr(0, end.size() - error.size()))
                                                : written;
}

}  // namespace

// What went wrong stands first: a long output may be cut behind it.
std::string run_text(const FinishedRun& run) {
  const RunOutcome& outcome = run.outcome;
  const std::string error = outcome.error ? error_text(*outcome.error) : std::string();
  std::string text;
  if (outcome.exit_code != 0) text = fmt::format("exit: {}\n", outcome.exit_code);
  add_section(text, "error:", error);
  if (!error.empty() && !outcome.stdout_bytes.empty()) text += "\nstdout:\n";
  text += to_valid_utf8(outcome.stdout_bytes);
  if (outcome.stdout_truncated)
    text += "\n[stdout truncated: the rest is lost; write long output to a file in /out]";
  add_section(text, "stderr:", without_error(outcome.stderr_bytes, trim_ascii(error)));
  if (outcome.stderr_truncated) text += "\n[stderr truncated: the rest is lost]";
  add_section(text, "value:", value_text(outcome));
  for (const Artifact& artifact : run.artifacts)
    add_section(text, "artifact:",
                fmt::format("{} ({} bytes, {})", artifact.path, artifact.bytes, artifact.mime_type));
  for (const std::string& note : run.notes) add_section(text, "note:", note);
  if (!run.session.empty())
    add_section(
        text, "note:",
        fmt::format("to go on with this session, pass session \"{}\": this client has no MCP session that "
                    "would tell it from others",
                    run.session));
  return text.empty() ? "(no output)" : text;
}

json::object run_structured(const FinishedRun& run) {
  const RunOutcome& outcome = run.outcome;
  json::object out;
  out["exitCode"] = outcome.exit_code;
  put_output(out, "stdout", outcome.stdout_bytes);
  put_output(out, "stderr", outcome.stderr_bytes);
  if (outcome.value_json)
    if (auto value = json::parse(*outcome.value_json)) out["value"] = std::move(*value);
  if (!outcome.value_json && !outcome.value_text.empty())
    out["valueText"] = to_valid_utf8(outcome.value_text);
  if (outcome.error) out["error"] = error_json(*outcome.error);
  if (!run.artifacts.empty()) out["artifacts"] = artifacts_json(run.artifacts);
  if (!run.session.empty()) out["session"] = run.session;
  if (!run.notes.empty()) out["notes"] = json::array(run.notes.begin(), run.notes.end());
  put_rest(out, outcome);
  return out;
}

json::object run_meta(const FinishedRun& run) {
  const executors::RunUsage& usage = run.outcome.usage;
  return {{"usage",
           {{"wallMs", rounded(usage.wall_ms)},
            {"cpuMs", rounded(usage.cpu_ms)},
            {"memPeakMb", rounded(usage.mem_peak_mb)},
            {"queuedMs", rounded(usage.queued_ms)}}},
          {"runId", run.run_id},
          {"executor", run.outcome.executor}};
}

protocol::ToolResult run_result(const FinishedRun& run) {
  protocol::ToolResult result;
  result.content.push_back(protocol::text_content(run_text(run)));
  result.content.insert(result.content.end(), run.displayed.begin(), run.displayed.end());
  result.structured = run_structured(run);
  result.meta = run_meta(run);
  result.is_error = run.outcome.exit_code != 0;
  return result;
}

}  // namespace relay::runs
