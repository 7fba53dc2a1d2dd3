// For tests: a LocalExecutor with its own loop, an audit log for the records that it demands, and capsules
// for plain code, signed by a key of this process.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "audit/audit_fixture.h"
#include "audit/journal.h"
#include "capsule/builder.h"
#include "executors/local_executor.h"

namespace relay::hostile {

class LocalRuns {
 public:
  explicit LocalRuns(executors::LocalConfig config)
      : keys_(std::make_shared<capsule::KeyRing>(*capsule::KeyRing::in_memory())),
        builder_(keys_, {}),
        journal_(std::move(*audit::Journal::start(
            loop.get_executor(), {.ledger = {folder_.log()}, .on_failure = audit::OnFailure::refuse},
            clock_))),
        executor(std::make_unique<executors::LocalExecutor>(loop.get_executor(), clock_, std::move(config))) {
  }
  ~LocalRuns() {
    executor->stop();
    loop.restart();
    loop.run_for(std::chrono::milliseconds(50));
  }

  executors::RunRequest request(executors::Language language, std::string code) {
    capsule::BuildRequest build;
    build.language = language;
    build.code = std::move(code);
    executors::RunRequest request;
    request.runtime = executors::default_runtime(language);
    request.capsule = *builder_.build(std::move(build));
    request.key = keys_->current().public_key().spki_base64();
    request.limits.mem_mb = 64;
    request.limits.timeout = std::chrono::seconds(20);
    return request;
  }

  /// Runs the loop until the task ends, for at most a minute.
  template <class T>
  Result<T> await(io::Task<T> task) {
    std::optional<Result<T>> result;
    auto body = [](io::Task<T> inner, std::optional<Result<T>>& out) -> io::Task<void> {
      out = co_await std::move(inner);
      co_return Result<void>{};
    };
    io::spawn(loop.get_executor(), body(std::move(task), result), "test");
    loop.restart();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!result && std::chrono::steady_clock::now() < deadline) loop.run_one_for(std::chrono::seconds(1));
    if (!result) return fail(timed_out("the test's minute is over"));
    return std::move(*result);
  }

  Result<executors::RunOutcome> run(executors::RunRequest request,
                                    std::shared_ptr<executors::HostCalls> calls = nullptr);

  /// The whole life of one run: a record, the run, the record's end. For tests that stop it or run several at
  /// once.
  io::Task<executors::RunOutcome> recorded(executors::RunRequest request,
                                           std::shared_ptr<executors::HostCalls> calls,
                                           executors::RunObserver& observer, executors::RunStop stop = {}) {
    authority::Call call = audit::make_call("req_test");
    call.args = json::object{{"code", *request.capsule.layers.front()}, {"stdin", request.stdin_bytes}};
    RELAY_CO_TRY(authority::Recorded record, co_await journal_->open(audit::make_grant(std::move(call))));
    Result<executors::RunOutcome> outcome =
        co_await executor->run(record, std::move(request), std::move(calls), observer, std::move(stop));
    RELAY_CO_CHECK(co_await journal_->close(std::move(record), authority::Outcome{}));
    co_return outcome;
  }

  boost::asio::io_context loop{1};

 private:
  SystemClock clock_;
  std::shared_ptr<capsule::KeyRing> keys_;
  capsule::CapsuleBuilder builder_;
  audit::TempFolder folder_;
  std::unique_ptr<audit::Journal> journal_;

 public:
  std::unique_ptr<executors::LocalExecutor> executor;
};

/// Answers every call with a refusal.
class NoCalls final : public executors::HostCalls {
 public:
  io::Task<executors::HostReply> call(executors::HostCall, executors::HostStream&) override {
    co_return fail(denied("nothing is allowed here"));
  }
};

inline Result<executors::RunOutcome> LocalRuns::run(executors::RunRequest request,
                                                    std::shared_ptr<executors::HostCalls> calls) {
  executors::RunObserver observer;
  if (!calls) calls = std::make_shared<NoCalls>();
  return await(recorded(std::move(request), std::move(calls), observer));
}

}  // namespace relay::hostile
