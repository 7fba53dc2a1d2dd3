// run_js and run_py: from the arguments of a call to a capsule, a run and a result.
#pragma once

#include <memory>
#include <string>

#include "base/random.h"
#include "capsule/builder.h"
#include "capsule/packages.h"
#include "codemode/code_mode.h"
#include "executors/local_executor.h"
#include "io/thread_pool.h"
#include "pipeline/guarded_backend.h"
#include "tools/code_arguments.h"
#include "tools/run_host.h"
#include "tools/run_network.h"
#include "tools/run_policy.h"
#include "vfs/workspace.h"

namespace relay::tools {

/// What running code needs of the world. Everything outlives the tools.
struct CodeWorld {
  executors::LocalExecutor& local;
  capsule::CapsuleBuilder& capsules;
  vfs::Trees& trees;
  io::ThreadPool& pool;
  RandomSource& random;
  RunPolicy policy;       // the server's side of every run
  net::HttpClient& http;  // for runs whose policy allows a host
  io::Loop loop;
  capsule::Packages& packages;
  /// For the audit log and the metrics; `nth` counts the refusals of one run from 1. May be empty.
  std::function<void(const fetch::BlockedFetch&, const authority::Call& run, std::size_t nth)> on_refusal;
  std::function<void(const capsule::Capsule&)> keep_capsule;  // off the critical path; may be empty
  codemode::CodeMode* code_mode = nullptr;  // upstream servers for programs; null: there are none
};

/// A capsule that was sealed before, and the public key (SPKI DER, base64) that its signature belongs to.
struct SealedRun {
  capsule::Capsule capsule;
  std::string key;
};

/// One run, whoever asks for it: a tool call or the command line.
struct CodeRun {
  executors::Language language = executors::Language::js;
  CodeArguments arguments;
  std::string principal;                 // whose named sessions and workspace
  std::string file_name = {};            // of the script, for traces; empty: main.js or main.py
  std::string client_session = {};       // the MCP session, which may have a workspace of its own
  std::optional<SealedRun> sealed = {};  // instead of code and packages; its policy is the override
  /// More standard input, when the guest has read what came with the run: blocks on the pool, "" at the end.
  /// May be empty.
  std::function<Result<std::string>()> read_input = {};
  mcp::Context* context = nullptr;  // whose user upstream servers may ask; null: nobody's
};

/// Runs it and collects what there is to tell. The record is the permission: without one nothing runs.
io::Task<FinishedRun> run_code(const CodeWorld& world, const authority::Recorded& recorded, CodeRun run,
                               executors::RunObserver& observer);

Result<void> add_code_tools(pipeline::Toolset& toolset, std::shared_ptr<const CodeWorld> world);

}  // namespace relay::tools
