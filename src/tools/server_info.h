// ServerInfo: what server_info tells. Each part of the program adds its section; all are asked when the tool
// is called, so that nothing in the answer can be out of date.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace relay::tools {

class ServerInfo {
 public:
  using Section = std::function<json::value()>;

  void add(std::string name, Section section) { sections_.emplace_back(std::move(name), std::move(section)); }

  [[nodiscard]] json::object collect() const {
    json::object out;
    for (const auto& [name, section] : sections_) out[name] = section();
    return out;
  }

 private:
  std::vector<std::pair<std::string, Section>> sections_;
};

}  // namespace relay::tools
