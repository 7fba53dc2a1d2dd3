#include "world/pipeline_part.h"

#include <fmt/format.h>

#include "world/process_part.h"

namespace relay::world {
namespace {

audit::LogFormat ledger_format(config::AuditFormat format) {
  switch (format) {
    case config::AuditFormat::jsonl: return audit::LogFormat::jsonl;
    case config::AuditFormat::cef: return audit::LogFormat::cef;
    case config::AuditFormat::leef: return audit::LogFormat::leef;
  }
  return audit::LogFormat::jsonl;
}

audit::JournalOptions journal_options(const config::AuditConfig& config,
                                      std::shared_ptr<const secrets::Redactor> redactor) {
  audit::JournalOptions options;
  options.redactor = std::move(redactor);
  options.ledger.path = config.path.string();
  options.ledger.format = ledger_format(config.format);
  options.ledger.chain = config.chain ? audit::Chaining::on : audit::Chaining::off;
  options.on_failure = config.on_failure == config::AuditFailure::refuse ? audit::OnFailure::refuse
                                                                         : audit::OnFailure::degrade;
  return options;
}

pipeline::ToolSettings tool_settings(const config::Config& config) {
  pipeline::ToolSettings settings;
  for (const auto& [name, tool] : config.tools) {
    pipeline::ToolSetting& setting = settings[name];
    setting.offered = tool.enabled ? pipeline::Offered::yes : pipeline::Offered::no;
    setting.result_bytes = tool.result_bytes == 0 ? pipeline::kNoBudget : tool.result_bytes;
  }
  // Who may not write may not edit.
  if (const auto write = settings.find("write");
      write != settings.end() && write->second.offered == pipeline::Offered::no)
    settings["edit"].offered = pipeline::Offered::no;
  return settings;
}

policy::Confirming confirming(const policy::Rules& rules) {
  return rules.agents_confirm ? policy::Confirming::agents_too : policy::Confirming::operator_only;
}

// What an upstream may have is said from the start: servers come with a changed configuration, and
// capabilities cannot change later.
protocol::ServerCapabilities make_capabilities() {
  protocol::ServerCapabilities capabilities;
  capabilities.resources = true;
  capabilities.resource_subscriptions = true;
  capabilities.prompts = true;
  capabilities.completions = true;
  capabilities.tasks = true;
  return capabilities;
}

}  // namespace

PipelinePart::PipelinePart(const config::Config& config, const Services& services, const IdMaker& ids,
                           metrics::Registry& metrics, policy::PolicyEngine engine,
                           std::unique_ptr<audit::Journal> journal)
    : audit_(config.audit),
      run_policy_(config.policy.run),
      journal_(std::move(journal)),
      broker_(services.clock, ids, config.policy.rules.confirm_ttl, confirming(config.policy.rules)),
      results_(services.clock, ids),
      pipeline_(std::move(engine), broker_, *journal_, results_, services.clock),
      counter_(metrics, config.policy.rules.mode),
      call_log_(services.log),
      backend_(make_identity(), pipeline_, ids) {
  pipeline_.add_observer(counter_);
  // The fields of a line alone cost more than the rest of a call's end.
  if (config.log_level == LogLevel::debug) pipeline_.add_observer(call_log_);
  backend_.set_tool_settings(tool_settings(config));
  backend_.set_capabilities(make_capabilities());
}

Result<std::unique_ptr<PipelinePart>> PipelinePart::open(const config::Config& config,
                                                         const Services& services, const IdMaker& ids,
                                                         metrics::Registry& metrics) {
  std::vector<policy::Problem> problems;
  policy::PolicyEngine engine = policy::PolicyEngine::make(config.policy.rules, "$.policy", problems);
  if (!problems.empty())
    return fail(invalid(fmt::format("{}: {}", problems.front().path, problems.front().message)));
  RELAY_TRY(
      auto journal,
      audit::Journal::start(services.loop, journal_options(config.audit, services.redactor), services.clock));
  if (const audit::JournalStats stats = journal->stats(); stats.degraded)
    services.log.error("the audit log cannot be written; calls go on unrecorded until it can",
                       {{"path", config.audit.path.string()}, {"reason", stats.reason}});
  return std::unique_ptr<PipelinePart>(
      new PipelinePart(config, services, ids, metrics, std::move(engine), std::move(journal)));
}

// The patterns were compiled once when the configuration was read, so they cannot be wrong here.
void PipelinePart::adopt(const config::Config& now) {
  std::vector<policy::Problem> problems;
  pipeline_.set_engine(policy::PolicyEngine::make(now.policy.rules, "$.policy", problems));
  counter_.set_mode(now.policy.rules.mode);
  run_policy_ = now.policy.run;
  backend_.set_tool_settings(tool_settings(now));
}

json::value PipelinePart::audit_status() const {
  const audit::JournalStats stats = journal_->stats();
  json::object out{{"path", audit_.path.string()},
                   {"format", std::string(config::word_of(audit_.format))},
                   {"chain", audit_.chain},
                   {"degraded", stats.degraded},
                   {"records", stats.records},
                   {"backlog", stats.backlog},
                   {"lost", stats.lost}};
  if (stats.degraded) out["reason"] = stats.reason;
  return out;
}

void PipelinePart::describe(tools::ServerInfo& info) const {
  info.add("policyMode",
           [this] { return json::value(std::string(policy::name(pipeline_.engine().rules().mode))); });
  info.add("limits", [this] { return run_policy_.to_json().at("limits"); });
  info.add("audit", [this] { return audit_status(); });
  info.add("confirm", [this] {
    return json::value{{"tier3", pipeline_.engine().rules().confirm_tier3},
                       {"ttlSeconds", broker_.ttl().count()},
                       {"pending", broker_.pending()}};
  });
  info.add("results",
           [this] { return json::value{{"kept", results_.count()}, {"bytes", results_.bytes()}}; });
}

void PipelinePart::measure(metrics::Registry& metrics) const {
  metrics.add_gauge("relay_audit_degraded", "1 while the audit log cannot be written",
                    [this] { return journal_->stats().degraded ? 1.0 : 0.0; });
  metrics.add_counter("relay_audit_records_total", "Audit lines handed to the kernel",
                      [this] { return static_cast<double>(journal_->stats().records); });
  metrics.add_gauge("relay_audit_backlog", "Audit lines that wait in memory for the disk",
                    [this] { return static_cast<double>(journal_->stats().backlog); });
  metrics.add_counter("relay_audit_lost_total", "Audit lines that fitted neither disk nor backlog",
                      [this] { return static_cast<double>(journal_->stats().lost); });
  metrics.add_gauge("relay_confirmations_pending", "Tier-3 calls that wait for their confirmation",
                    [this] { return static_cast<double>(broker_.pending()); });
  metrics.add_gauge("relay_results_kept", "Results kept because they did not fit a reply",
                    [this] { return static_cast<double>(results_.count()); });
  metrics.add_gauge("relay_results_kept_bytes", "Their size",
                    [this] { return static_cast<double>(results_.bytes()); });
}

}  // namespace relay::world
