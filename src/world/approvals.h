// Approvals: what waits for the operator, while Relay runs. It shows calls that need a confirmation and
// reloads that would execute or grant something, takes the operator's answers (approval_files.h), hands each
// to whoever waits, and writes it down in the audit log. Loop thread only; files are written on the pool. It
// lives as long as the world and must be destroyed before the broker and the journal.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "audit/journal.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/thread_pool.h"
#include "policy/broker.h"
#include "world/approval_files.h"
#include "world/part.h"

namespace relay::world {

struct ApprovalParts {
  io::Loop loop;
  io::ThreadPool& pool;
  audit::Journal& journal;
  policy::Broker& broker;
  const Clock& clock;
  Log& log;
  std::filesystem::path state;
};

class Approvals final : public Part, public policy::BrokerObserver {
 public:
  using Answered = std::function<void(const ApprovalAnswer&)>;

  /// Removes what processes left that are gone, and watches for answers. A directory that cannot be watched
  /// is an error: nobody could answer.
  static Result<std::unique_ptr<Approvals>> open(ApprovalParts parts);
  ~Approvals() override;

  /// Shows something that waits until it is answered or withdrawn; the answer is told once.
  void add(PendingApproval pending, Answered answered);
  void withdraw(const std::string& id);
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  /// Removes what waits: nobody could hear the answer any more.
  void close() override;

  // BrokerObserver
  void call_waits(const std::string& id, const authority::Call& call, std::chrono::seconds ttl) override;
  void call_gone(const std::string& id) override;

 private:
  class Watch;
  explicit Approvals(ApprovalParts parts);
  Result<void> watch();
  void take(const ApprovalAnswer& answer);
  io::Task<void> write(PendingApproval pending);

  struct Waiting {
    PendingApproval pending;
    Answered answered;
  };
  ApprovalParts parts_;
  std::string process_start_;
  std::map<std::string, Waiting, std::less<>> waiting_;
  std::shared_ptr<Watch> watch_;
};

/// Writes an audit line of a tool that no client calls ("config", "approvals").
void note_event(const io::Loop& loop, audit::Journal& journal, const Clock& clock, std::string_view tool,
                std::string_view action, const json::object& args);

}  // namespace relay::world
