// What GET / says: a page for people, or a JSON status when headless. Pure: facts in, bytes out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::web {

struct HomeFacts {
  std::string base_url;  // "http://127.0.0.1:7800"
  std::string version;
  std::string program;      // how a client would start us: a path
  std::string fingerprint;  // of the signing key
  std::vector<std::string> toolsets;
  bool needs_token = false;
};

/// Fills {{name}} in the template; every fact is escaped for HTML.
std::string render_home(std::string_view page_template, const HomeFacts& facts);

/// The headless status of GET /.
std::string render_status(const HomeFacts& facts);

std::string escape_html(std::string_view text);

}  // namespace relay::web
