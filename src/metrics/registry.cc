#include "metrics/registry.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace relay::metrics {
namespace {

// From a cached answer to a long run; a native tool is expected in the first two.
const prometheus::Histogram::BucketBoundaries kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                          0.025,  0.05,    0.1,    0.5,   1,      5,     30};

struct Source {
  prometheus::MetricType type;
  std::string name;
  std::string help;
  std::function<double()> read;
  Labels labels;
};

prometheus::ClientMetric sample_of(const Source& source) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : source.labels) metric.label.push_back({name, value});
  if (source.type == prometheus::MetricType::Counter)
    metric.counter.value = source.read();
  else
    metric.gauge.value = source.read();
  return metric;
}

}  // namespace

struct Registry::Families {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& calls = prometheus::BuildCounter()
                                                       .Name("relay_tool_calls_total")
                                                       .Help("Calls by tool, tier, policy mode and outcome")
                                                       .Register(registry);
  prometheus::Family<prometheus::Histogram>& latency =
      prometheus::BuildHistogram()
          .Name("relay_tool_call_seconds")
          .Help("Time from the request to its audited result, by tool")
          .Register(registry);
  // Looking a labelled metric up in its family takes a lock and several hashes; a call takes one of these.
  std::unordered_map<std::string, prometheus::Counter*> call_counters;
  std::unordered_map<std::string, prometheus::Histogram*> call_latencies;
  std::vector<Source> sources;
};

Registry::Registry() : families_(std::make_unique<Families>()) {}
Registry::~Registry() = default;

void Registry::count_call(const CallSample& sample) {
  std::string key;
  key.reserve(64);
  key.append(sample.tool).push_back('\0');
  prometheus::Histogram*& latency = families_->call_latencies[key];
  if (!latency) latency = &families_->latency.Add({{"tool", std::string(sample.tool)}}, kSeconds);
  key.append(sample.outcome).push_back('\0');
  key.append(sample.mode).push_back(static_cast<char>('0' + sample.tier));
  prometheus::Counter*& counter = families_->call_counters[key];
  if (!counter)
    counter = &families_->calls.Add({{"tool", std::string(sample.tool)},
                                     {"tier", std::to_string(sample.tier)},
                                     {"outcome", std::string(sample.outcome)},
                                     {"mode", std::string(sample.mode)}});
  counter->Increment();
  latency->Observe(std::chrono::duration<double>(sample.duration).count());
}

void Registry::add_gauge(std::string name, std::string help, std::function<double()> read, Labels labels) {
  families_->sources.push_back(
      {prometheus::MetricType::Gauge, std::move(name), std::move(help), std::move(read), std::move(labels)});
}

void Registry::add_counter(std::string name, std::string help, std::function<double()> read, Labels labels) {
  families_->sources.push_back({prometheus::MetricType::Counter, std::move(name), std::move(help),
                                std::move(read), std::move(labels)});
}

std::string Registry::render() const {
  std::vector<prometheus::MetricFamily> page = families_->registry.Collect();
  for (const Source& source : families_->sources) {
    if (page.empty() || page.back().name != source.name)
      page.push_back({source.name, source.help, source.type, {}});
    page.back().metric.push_back(sample_of(source));
  }
  return prometheus::TextSerializer().Serialize(page);
}

}  // namespace relay::metrics
