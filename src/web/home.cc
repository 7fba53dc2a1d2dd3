#include "web/home.h"

#include <map>

#include "base/json.h"

namespace relay::web {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::map<std::string, std::string, std::less<>> values_of(const HomeFacts& facts) {
  return {
      {"mcp_url", facts.base_url + "/mcp"},
      {"version", facts.version},
      {"program", facts.program},
      {"fingerprint", facts.fingerprint},
      {"toolsets", joined(facts.toolsets)},
      {"auth", facts.needs_token ? "bearer token" : "none (this machine only)"},
      {"claude_header", facts.needs_token ? " --header \"Authorization: Bearer $RELAY_TOKEN\"" : ""},
      {"json_header", facts.needs_token ? R"(, "headers": {"Authorization": "Bearer <token>"})" : ""},
  };
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string render_home(std::string_view page, const HomeFacts& facts) {
  const auto values = values_of(facts);
  std::string out;
  while (!page.empty()) {
    const std::size_t open = page.find("{{");
    const std::size_t close = open == std::string_view::npos ? open : page.find("}}", open);
    out += page.substr(0, close == std::string_view::npos ? page.size() : open);
    if (close == std::string_view::npos) break;
    const auto value = values.find(page.substr(open + 2, close - open - 2));
    if (value != values.end()) out += escape_html(value->second);
    page.remove_prefix(close + 2);
  }
  return out;
}

std::string render_status(const HomeFacts& facts) {
  json::object status;
  status["name"] = "relay";
  status["version"] = facts.version;
  status["status"] = "running";
  status["mode"] = "headless";
  status["executionMode"] = "local-only";
  status["endpoints"] = {{"mcp", "POST " + facts.base_url + "/mcp"},
                         {"health", "GET " + facts.base_url + "/healthz"},
                         {"metrics", "GET " + facts.base_url + "/metrics"}};
  return json::write(status);
}

}  // namespace relay::web
