// run_code: one run from source text or a sealed capsule to its result, with the host services around it.
//
// It is used by the tools run_js and run_py and by `relay run`. The caller owns everything in RunDependencies
// and keeps it alive for as long as runs exist. Loop thread only. A run that cannot start fails with an
// Error; a program that fails is a FinishedRun that says so.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "authority/recorded.h"
#include "base/id_maker.h"
#include "capsule/builder.h"
#include "codemode/code_mode.h"
#include "executors/executor_table.h"
#include "io/thread_pool.h"
#include "packages/packages.h"
#include "policy/run_policy.h"
#include "runs/code_result.h"
#include "runs/run_arguments.h"
#include "runs/run_network.h"
#include "vfs/workspace.h"

namespace relay::runs {

/// What running code needs of the world. Everything outlives the tools.
struct RunDependencies {
  const executors::ExecutorTable& executors;
  capsule::CapsuleBuilder& capsules;
  vfs::Trees& trees;
  io::ThreadPool& pool;
  policy::RunPolicy policy;  // the server's side of every run
  net::HttpClient& http;     // for runs whose policy allows a host
  io::Loop loop;
  IdMaker ids;  // for keys of sessions whose client has none
  packages::Packages& packages;
  /// For the log and the metrics; the audit line is made from the run's record. May be empty.
  std::function<void(const fetch::BlockedFetch&, const authority::Call& run)> on_refusal;
  /// May this run change the file below /host? Asked from pool threads. May be empty: then mounts and
  /// policy.filesystem alone decide.
  std::function<bool(const authority::Call& run, std::string_view path)> may_write;
  std::function<void(const capsule::Capsule&)> keep_capsule;  // off the critical path; may be empty
  codemode::CodeMode* code_mode = nullptr;  // upstream servers for programs; null: there are none
};

/// A capsule that was sealed before, and the public key (SPKI DER, base64) that its signature belongs to.
struct SealedRun {
  capsule::Capsule capsule;
  std::string key;
};

/// What a run has besides the arguments of its recorded call, which say what runs.
struct CodeRun {
  executors::Language language = executors::Language::js;
  std::string file_name = {};  // of the script, for traces; empty: main.js or main.py
  std::optional<SealedRun> sealed =
      {};  // instead of packages; its code is the call's, its policy the override
  /// More standard input, when the guest has read what came with the run: blocks on the pool, "" at the end.
  /// May be empty.
  std::function<Result<std::string>()> read_input = {};
  serving::Context* context = nullptr;  // whose user upstream servers may ask; null: nobody's
};

/// Whose files those of a guest session are, where nothing tells its client from others. They go when the
/// session ends: whoever owns the executor closes them.
vfs::Holder holder_of_session(const executors::SessionKey& key);

/// Runs what the recorded call says (runs/run_arguments.h), for its caller, and collects what there is to
/// tell. The record is the permission, and the only place that code, input and packages come from.
io::Task<FinishedRun> run_code(const RunDependencies& world, const authority::Recorded& recorded, CodeRun run,
                               executors::RunObserver& observer);

}  // namespace relay::runs
