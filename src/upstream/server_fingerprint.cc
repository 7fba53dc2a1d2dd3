#include "upstream/server_fingerprint.h"

#include "base/digest.h"
#include "base/json.h"

namespace relay::upstream {
namespace {

json::array list_of(const std::vector<std::string>& texts) {
  json::array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

json::object object_of(const std::map<std::string, std::string>& texts) {
  json::object object;
  for (const auto& [key, text] : texts) object[key] = text;
  return object;
}

json::array way_of(const ServerSpec& spec) {
  json::array way{spec.command, spec.endpoint, spec.cwd};
  for (const std::string& arg : spec.args) way.emplace_back(arg);
  return way;
}

}  // namespace

std::string fingerprint_of_way(const ServerSpec& spec) {
  return sha256_hex(json::write(json::value(way_of(spec))));
}

std::string fingerprint_of_offer(const ServerSpec& spec) {
  const json::array everything{way_of(spec),
                               object_of(spec.env),
                               object_of(spec.headers),
                               static_cast<int>(spec.transport),
                               static_cast<int>(spec.era),
                               list_of(spec.allow),
                               list_of(spec.deny)};
  return sha256_hex(json::write(json::value(everything)));
}

}  // namespace relay::upstream
