// Registry: what GET /metrics shows. The only door to prometheus-cpp.
//
// Counters and histograms of calls are kept here; everything that has an owner (sessions, queue, kept
// results, audit state, children) is a source that is asked when the page is read, so a gauge cannot drift
// from the truth. Names are listed in docs/metrics.md; a test compares that table with the page.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace relay::metrics {

using Labels = std::map<std::string, std::string>;

struct CallSample {
  std::string_view tool;  // a known tool's name; what clients invent is counted as "unknown" by the caller
  int tier = 0;
  std::string_view outcome;  // the closed set of authority::Ending
  std::string_view mode;     // policy mode
  std::chrono::nanoseconds duration{};
  std::string_view upstream = {};  // the server that answered, if it was not us
};

/// One number of several under the same name.
struct LabelledNumber {
  Labels labels;
  double value = 0;
};
using ReadNumbers = std::function<std::vector<LabelledNumber>()>;

class Registry {
 public:
  Registry();
  ~Registry();

  /// relay_tool_calls_total, relay_tool_call_seconds and, for a call of an upstream server,
  /// relay_upstream_call_seconds.
  void count_call(const CallSample& sample);
  /// relay_runs_total. `outcome` is one of the outcomes of calls.
  void count_run(std::string_view language, std::string_view outcome);

  /// Read when the page is read.
  void add_gauge(std::string name, std::string help, std::function<double()> read, Labels labels = {});
  /// The owner counts; the number must never fall.
  void add_counter(std::string name, std::string help, std::function<double()> read, Labels labels = {});

  /// For things that come and go: as many numbers as there are when the page is read.
  void add_gauges(std::string name, std::string help, ReadNumbers read);
  void add_counters(std::string name, std::string help, ReadNumbers read);

  /// The text format, version 0.0.4.
  [[nodiscard]] std::string render() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace relay::metrics
