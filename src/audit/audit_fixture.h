// What the audit tests share: a folder of their own, grants made the only way there is, whole files as text.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "audit/record.h"
#include "policy/engine.h"

namespace relay::audit {

class TempFolder {
 public:
  TempFolder() {
    // In memory where possible: these tests are about order and loss, and a busy disk only makes them slow.
    const std::filesystem::path base =
        std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (base / "relay-audit-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::string log() const { return (path_ / "audit.jsonl").string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}
inline void spill(const std::string& path, const std::string& text,
                  std::ios::openmode mode = std::ios::trunc) {
  std::ofstream(path, std::ios::binary | std::ios::out | mode) << text;
}
inline std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream in(slurp(path));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline authority::Call make_call(std::string id, authority::Tier tier = authority::Tier::reversible,
                                 std::string toolset = "code") {
  authority::Call call;
  call.request_id = std::move(id);
  call.caller.principal = "alice";
  call.toolset = std::move(toolset);
  call.tool = "run_js";
  call.tier = tier;
  call.policy_text = "code";
  call.args = json::object{{"code", "1+1"}, {"b", 2}};
  return call;
}
inline authority::Grant make_grant(authority::Call call) {
  std::vector<policy::Problem> problems;
  const policy::PolicyEngine engine = policy::PolicyEngine::make({}, "policy", problems);
  return std::get<authority::Grant>(engine.admit(std::move(call)));
}
inline authority::Grant make_grant(std::string id, authority::Tier tier = authority::Tier::reversible,
                                   std::string toolset = "code") {
  return make_grant(make_call(std::move(id), tier, std::move(toolset)));
}
inline Record make_closing(const Clock& clock, std::string id) {
  const authority::Grant grant = make_grant(std::move(id));
  return make_end(clock.wall(), grant.call(), grant.decision(),
                  authority::make_outcome(authority::Ending::ok, "2", 0), std::chrono::microseconds(1500));
}

}  // namespace relay::audit
