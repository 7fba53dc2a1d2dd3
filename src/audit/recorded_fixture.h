// RecordedCall: an open record for tests of doors, made the only way there is: judged by an engine, opened by
// a journal whose log is a file of its own. Test-only; tests of every folder may include it.
//
// Loop thread of the test, or whichever thread the door is used on: never two at once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "audit/audit_fixture.h"
#include "audit/journal.h"
#include "io/spawn.h"

namespace relay::audit {

class RecordedCall {
 public:
  explicit RecordedCall(authority::Call call = make_call("req_1")) {
    journal_ = std::move(*Journal::start(loop_.get_executor(), {.ledger = {folder_.log()}}, clock_));
    std::vector<policy::Problem> problems;
    const policy::PolicyEngine engine = policy::PolicyEngine::make({}, "policy", problems);
    io::spawn(loop_.get_executor(), open(std::get<authority::Grant>(engine.admit(std::move(call)))), "open");
    while (!recorded_) loop_.run_one();
  }
  ~RecordedCall() { end(); }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  [[nodiscard]] const authority::Recorded& get() const { return *recorded_; }

  /// Ends the call; its sums and its closing line are written.
  void end() { recorded_.reset(); }

  /// What is in the log about calls and their effects, once all that was submitted is written.
  [[nodiscard]] std::vector<json::object> lines() {
    bool flushed = false;
    io::spawn(loop_.get_executor(), flush(flushed), "flush");
    while (!flushed) {
      loop_.restart();
      loop_.run_one_for(std::chrono::milliseconds(1));
    }
    std::vector<json::object> lines;
    for (const std::string& line : lines_of(folder_.log())) lines.push_back(*json::parse_object(line));
    std::erase_if(lines, [](const json::object& line) { return json::find_string(line, "tool") == "audit"; });
    return lines;
  }

 private:
  io::Task<void> open(authority::Grant grant) {
    RELAY_CO_TRY(authority::Recorded opened, co_await journal_->open(std::move(grant)));
    recorded_.emplace(std::move(opened));
    co_return Result<void>{};
  }

  // Batches are written in order, so that a line of the journal itself comes after all others.
  io::Task<void> flush(bool& flushed) {
    RELAY_CO_CHECK(co_await journal_->note(make_event(clock_.wall(), "flush", "{}")));
    flushed = true;
    co_return Result<void>{};
  }

  TempFolder folder_;
  SystemClock clock_;
  boost::asio::io_context loop_;
  std::unique_ptr<Journal> journal_;
  std::optional<authority::Recorded> recorded_;
};

}  // namespace relay::audit
