// How a run's outcome becomes a tool result: text that a model wants to read, structured content that says
// the same.
#pragma once

#include <string>
#include <vector>

#include "executors/run.h"
#include "protocol/tool.h"

namespace relay::runs {

/// A file that a run left under /out.
struct Artifact {
  std::string path;  // "/out/plot.png"
  std::uint64_t bytes = 0;
  std::string mime_type;
};

struct FinishedRun {
  std::string run_id;
  executors::RunOutcome outcome;
  std::vector<Artifact> artifacts;
  std::vector<protocol::Content> displayed;  // what the guest passed to display()
  std::vector<std::string> notes;            // "policy override ignored: …", "session was restarted: …"
  std::string session =
      {};  // the name that the client has to use for this session from now on; empty: its own
};

/// stdout, then "stderr:" and "error:" parts when there is something, "exit: N" first when it is not 0.
std::string run_text(const FinishedRun& run);

/// What a model may read instead of the text: only what the program gave. Output that is not UTF-8 is base64
/// there, beside "stdoutEncoding": "base64".
json::object run_structured(const FinishedRun& run);

/// What only programs and people want to know of a run: usage, runId, executor.
json::object run_meta(const FinishedRun& run);

protocol::ToolResult run_result(const FinishedRun& run);

}  // namespace relay::runs
