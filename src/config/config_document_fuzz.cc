// Whatever configuration is edited: it stays one, and exactly the entry that was named changes.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/config_document.h"
#include "imports/document.h"

using namespace relay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto document = config::ConfigDocument::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!document) return 0;
  const std::size_t before = document->server_names().size();
  document->append_server({{"name", "fuzz-x"}, {"command", "c"}});
  if (!imports::parse_jsonc(document->text()) || document->server_names().size() != before + 1) std::abort();
  if (!document->set_in_server("fuzz-x", "enabled", false) || !imports::parse_jsonc(document->text()))
    std::abort();
  if (!document->remove_server("fuzz-x") || !imports::parse_jsonc(document->text())) std::abort();
  if (document->server_names().size() != before) std::abort();
  return 0;
}
