#include "packages/py_request.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/digest.h"
#include "capsule/manifest.h"
#include "packages/wheel.h"

namespace relay::packages {
namespace {

constexpr std::size_t kRequirements = 100;
constexpr std::size_t kRequirementBytes = 1024;

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool consists_of(std::string_view text, std::string_view extra) {
  return std::ranges::all_of(text,
                             [&](char c) { return is_alnum(c) || extra.find(c) != std::string_view::npos; });
}

std::size_t name_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() &&
         (is_alnum(text[length]) || std::string_view("._-").find(text[length]) != std::string_view::npos))
    ++length;
  return length;
}

// "--hash=sha256:..." at the end, any number of them.
std::string_view without_hashes(std::string_view text, bool& sound) {
  for (std::size_t at; (at = text.rfind("--hash=")) != std::string_view::npos;) {
    const std::string_view hash = trim_ascii(text.substr(at + 7));
    if (!hash.starts_with("sha256:") || !capsule::is_sha256(hash.substr(7))) sound = false;
    text = trim_ascii(text.substr(0, at));
    if (!sound) return text;
  }
  return text;
}

Result<std::vector<std::string>> strings_of(const json::object& pip, std::string_view key) {
  std::vector<std::string> texts;
  const json::value* value = json::find(pip, key);
  if (!value) return texts;
  if (!value->is_array() || value->get_array().size() > kRequirements)
    return fail(invalid(fmt::format("pip.{} must be an array of at most {} strings", key, kRequirements)));
  for (const json::value& item : value->get_array()) {
    if (!item.is_string()) return fail(invalid(fmt::format("pip.{} must hold strings", key)));
    texts.emplace_back(trim_ascii(json::view(item.get_string())));
  }
  return texts;
}

}  // namespace

bool is_requirement(std::string_view text) {
  bool sound = text.size() <= kRequirementBytes && is_valid_utf8(text);
  text = without_hashes(trim_ascii(text), sound);
  const std::size_t semicolon = std::min(text.find(';'), text.size());
  const std::string_view marker = text.substr(semicolon);
  std::string_view rest = text.substr(0, semicolon);
  const std::size_t name = name_length(rest);
  if (!sound || name == 0 || !is_alnum(rest[0]) || !is_alnum(rest[name - 1])) return false;
  rest = trim_ascii(rest.substr(name));
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos || !consists_of(rest.substr(1, end - 1), "._-, ")) return false;
    rest = trim_ascii(rest.substr(end + 1));
  }
  if (!rest.empty() && std::string_view("<>=!~(").find(rest[0]) == std::string_view::npos) return false;
  return consists_of(rest, "<>=!~.,*+-_ ()") && consists_of(marker, "<>=!~.,*+-_ ()'\";");
}

std::string project_of(std::string_view requirement) {
  requirement = trim_ascii(requirement);
  return normalized_project(requirement.substr(0, name_length(requirement)));
}

Result<WheelUrl> parse_wheel_url(std::string_view text) {
  const std::size_t hash = std::min(text.find('#'), text.size());
  WheelUrl wheel{.url = std::string(text.substr(0, hash))};
  if (!wheel.url.starts_with("https://") && !wheel.url.starts_with("http://"))
    return fail(invalid("pip.wheelUrls: an http or https address"));
  const std::string path = wheel.url.substr(0, wheel.url.find('?'));
  wheel.file = path.substr(path.rfind('/') + 1);
  RELAY_CHECK(parse_wheel_name(wheel.file));
  const std::string_view fragment = text.substr(hash);
  if (fragment.empty()) return wheel;
  wheel.sha256 = fragment.starts_with("#sha256=") ? std::string(fragment.substr(8)) : "";
  if (!capsule::is_sha256(wheel.sha256))
    return fail(invalid("pip.wheelUrls: after '#' only sha256=<64 hex digits> is taken"));
  return wheel;
}

Result<PyRequest> parse_py_request(const json::object& pip) {
  for (const auto& member : pip)
    if (member.key() != "requirements" && member.key() != "wheelUrls")
      return fail(invalid(fmt::format("pip: unknown member {}; it has requirements and wheelUrls",
                                      json::quote(std::string_view(member.key()).substr(0, 64)))));
  PyRequest request;
  RELAY_TRY(request.requirements, strings_of(pip, "requirements"));
  for (const std::string& requirement : request.requirements)
    if (!is_requirement(requirement))
      return fail(
          invalid(fmt::format("pip.requirements: {} is not a name with versions such as \"requests>=2.32\"; "
                              "options, paths and addresses are not taken",
                              json::quote(requirement))));
  RELAY_TRY(const std::vector<std::string> urls, strings_of(pip, "wheelUrls"));
  for (const std::string& url : urls) {
    RELAY_TRY(WheelUrl wheel, parse_wheel_url(url));
    request.wheels.push_back(std::move(wheel));
  }
  return request;
}

PyRequest merge(const PyRequest& configured, const PyRequest& called) {
  PyRequest merged = called;
  for (const std::string& requirement : configured.requirements)
    if (std::ranges::find(called.requirements, project_of(requirement), [](const std::string& text) {
          return project_of(text);
        }) == called.requirements.end())
      merged.requirements.push_back(requirement);
  for (const WheelUrl& wheel : configured.wheels)
    if (std::ranges::find(merged.wheels, wheel) == merged.wheels.end()) merged.wheels.push_back(wheel);
  return merged;
}

std::string layer_key(const PyRequest& request, std::string_view platform) {
  std::vector<std::string> lines = request.requirements;
  for (const WheelUrl& wheel : request.wheels) lines.push_back(fmt::format("{}#{}", wheel.url, wheel.sha256));
  std::ranges::sort(lines);
  std::string text = fmt::format("py layer 1\n{}\n", platform);
  for (const std::string& line : lines) text += line + "\n";
  return sha256_hex(text);
}

}  // namespace relay::packages
