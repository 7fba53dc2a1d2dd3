// What run_py asks of pip, as a value: checked, keyed, compared. Pure.
//
// A requirement is a name with extras, versions and markers, and optionally the hash it must have. Options,
// paths and addresses inside a requirement are refused: they would let a client choose where pip reads from.
// Wheels by address are named apart (wheelUrls), and are fetched by relay's own guarded client, never by pip.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace relay::packages {

struct WheelUrl {
  std::string url;     // without its fragment
  std::string file;    // "x-1.0-py3-none-any.whl"
  std::string sha256;  // from "#sha256=...", or empty

  bool operator==(const WheelUrl&) const = default;
};

struct PyRequest {
  std::vector<std::string> requirements;
  std::vector<WheelUrl> wheels;

  [[nodiscard]] bool empty() const { return requirements.empty() && wheels.empty(); }
};

/// From the `pip` member of a call or of the configuration: {"requirements": [], "wheelUrls": []}.
Result<PyRequest> parse_py_request(const json::object& pip);

/// What the call asks for on top of the configuration's; for one project the call's requirement wins.
PyRequest merge(const PyRequest& configured, const PyRequest& called);

bool is_requirement(std::string_view text);
/// The project that a requirement names, normalised: "Foo.Bar[x]>=1" -> "foo-bar".
std::string project_of(std::string_view requirement);
Result<WheelUrl> parse_wheel_url(std::string_view url);

/// Equal requests have equal keys; `platform` names the interpreter that the wheels are for.
std::string layer_key(const PyRequest& request, std::string_view platform);

}  // namespace relay::packages
