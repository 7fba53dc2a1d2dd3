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
  ReadNumbers read;
};

prometheus::ClientMetric metric_of(prometheus::MetricType type, const LabelledNumber& number) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : number.labels) metric.label.push_back({name, value});
  (type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = number.value;
  return metric;
}

ReadNumbers one_number(std::function<double()> read, Labels labels) {
  return [read = std::move(read), labels = std::move(labels)] {
    return std::vector<LabelledNumber>{{labels, read()}};
  };
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
  prometheus::Family<prometheus::Histogram>& upstream_latency =
      prometheus::BuildHistogram()
          .Name("relay_upstream_call_seconds")
          .Help("The same for calls of upstream servers, by server")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& runs = prometheus::BuildCounter()
                                                      .Name("relay_runs_total")
                                                      .Help("Runs that ended, by language and outcome")
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
  const double seconds = std::chrono::duration<double>(sample.duration).count();
  latency->Observe(seconds);
  if (!sample.upstream.empty())
    families_->upstream_latency.Add({{"server", std::string(sample.upstream)}}, kSeconds).Observe(seconds);
}

void Registry::count_run(std::string_view language, std::string_view outcome) {
  families_->runs.Add({{"language", std::string(language)}, {"outcome", std::string(outcome)}}).Increment();
}

void Registry::add_gauge(std::string name, std::string help, std::function<double()> read, Labels labels) {
  add_gauges(std::move(name), std::move(help), one_number(std::move(read), std::move(labels)));
}

void Registry::add_counter(std::string name, std::string help, std::function<double()> read, Labels labels) {
  add_counters(std::move(name), std::move(help), one_number(std::move(read), std::move(labels)));
}

void Registry::add_gauges(std::string name, std::string help, ReadNumbers read) {
  families_->sources.push_back(
      {prometheus::MetricType::Gauge, std::move(name), std::move(help), std::move(read)});
}

void Registry::add_counters(std::string name, std::string help, ReadNumbers read) {
  families_->sources.push_back(
      {prometheus::MetricType::Counter, std::move(name), std::move(help), std::move(read)});
}

std::string Registry::render() const {
  std::vector<prometheus::MetricFamily> page = families_->registry.Collect();
  for (const Source& source : families_->sources) {
    if (page.empty() || page.back().name != source.name)
      page.push_back({source.name, source.help, source.type, {}});
    for (const LabelledNumber& number : source.read())
      page.back().metric.push_back(metric_of(source.type, number));
  }
  return prometheus::TextSerializer().Serialize(page);
}

}  // namespace relay::metrics
