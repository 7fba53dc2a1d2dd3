// PipelinePart: what every call passes through: the policy, the audit log, confirmations, kept results, and
// the backend that clients see. Other parts add their tools to the backend.
#pragma once

#include <memory>
#include <vector>

#include "audit/journal.h"
#include "pipeline/guarded_backend.h"
#include "world/call_observers.h"
#include "world/part.h"
#include "world/services.h"

namespace relay::world {

class PipelinePart final : public Part {
 public:
  /// Fails when the policy has a pattern that is wrong, or the audit log must be written and cannot.
  static Result<std::unique_ptr<PipelinePart>> open(const config::Config& config, const Services& services,
                                                    const IdMaker& ids, metrics::Registry& metrics);

  [[nodiscard]] pipeline::Pipeline& pipeline() { return pipeline_; }
  [[nodiscard]] pipeline::GuardedBackend& backend() { return backend_; }
  [[nodiscard]] audit::Journal& journal() { return *journal_; }
  [[nodiscard]] policy::Broker& broker() { return broker_; }
  /// policyMode, limits, audit, confirm, results.
  void describe(tools::ServerInfo& info) const override;
  void measure(metrics::Registry& metrics) const override;
  /// The rules, and which tools are offered with which budgets.
  void adopt(const config::Config& now) override;
  /// Writes what was recorded.
  void close() override { journal_.reset(); }

 private:
  PipelinePart(const config::Config& config, const Services& services, const IdMaker& ids,
               metrics::Registry& metrics, policy::PolicyEngine engine,
               std::unique_ptr<audit::Journal> journal);
  [[nodiscard]] json::value audit_status() const;

  config::AuditConfig audit_;
  policy::RunPolicy run_policy_;
  std::unique_ptr<audit::Journal> journal_;  // never null before close()
  policy::Broker broker_;
  pipeline::ResultsStore results_;
  pipeline::Pipeline pipeline_;
  CallCounter counter_;
  CallLog call_log_;
  pipeline::GuardedBackend backend_;
};

}  // namespace relay::world
