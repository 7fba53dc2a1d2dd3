// Whatever a configuration file holds, reading it ends, and what comes out is a server that could be written
// down.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "imports/reader.h"

using namespace relay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool is_toml = (data[0] & 1) != 0;
  const imports::Surroundings here{.home = "/home/u",
                                   .folder = "/home/u/p",
                                   .working_directory = "/home/u/p",
                                   .environment = {{"SET", "value"}}};
  const imports::Place place{
      .source = (data[0] & 2) != 0 ? "gemini" : "file",
      .title = "",
      .file = "/f.json",
      .format = is_toml ? imports::DocumentFormat::toml : imports::DocumentFormat::json,
      .folder = "/home/u/p"};
  for (const imports::FoundServer& found : imports::read_servers(text, place, here).found) {
    if (found.spec.name != imports::make_server_name(found.spec.name)) std::abort();
    if (found.spec.command.empty() && found.spec.endpoint.empty()) std::abort();
    for (const imports::KeptSecret& secret : found.secrets)
      if (secret.value.empty()) std::abort();
  }
  return 0;
}
