// SupervisedFleet: the Fleet, with its way to connect handed in.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launch/process_count.h"
#include "secrets/redactor.h"
#include "upstream/fleet.h"
#include "upstream/supervised_upstream.h"

namespace relay::upstream {

struct FleetParts {
  io::Loop executor;
  const Clock& clock;
  Log& log;
  Connect connect;
  std::shared_ptr<secrets::Redactor> redactor;
  std::shared_ptr<launch::ProcessCount> heads;
  io::ThreadPool* pool = nullptr;  // null: nothing is written to disk
  std::filesystem::path state;
  Pace pace;
};

class SupervisedFleet final : public Fleet {
 public:
  explicit SupervisedFleet(FleetParts parts);
  ~SupervisedFleet() override;

  void apply(std::vector<ServerSpec> specs) override;
  [[nodiscard]] std::vector<std::shared_ptr<Upstream>> all() const override;
  [[nodiscard]] std::shared_ptr<Upstream> find(std::string_view name) const override;
  [[nodiscard]] std::shared_ptr<const FleetSink> subscribe(FleetSink sink) override;
  io::Task<void> stop() override;

 private:
  using Servers = std::vector<std::shared_ptr<SupervisedUpstream>>;

  std::shared_ptr<SupervisedUpstream> make(ServerSpec spec);
  [[nodiscard]] std::shared_ptr<SupervisedUpstream> find_server(std::string_view name) const;
  void retire(const std::shared_ptr<SupervisedUpstream>& server, std::string reason);
  void tell(const ServerSpec& spec, const protocol::ServerEvent& event);
  void tell_all_changed(const ServerSpec& spec);

  FleetParts parts_;
  std::shared_ptr<EraVerdicts> eras_;
  Servers servers_;
  std::vector<std::weak_ptr<const FleetSink>> sinks_;
  bool is_stopped_ = false;
};

}  // namespace relay::upstream
