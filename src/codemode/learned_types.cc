#include "codemode/learned_types.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/disk.h"
#include "codemode/learned_shape.h"

namespace relay::codemode {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kFileBytes = limits::kLearnedTypes * limits::kLearnedTypeBytes;

}  // namespace

std::string schema_hash(std::string_view input_schema) {
  return sha256_hex(input_schema).substr(0, 16);
}

LearnedTypes::LearnedTypes(std::filesystem::path file) : file_(std::move(file)) {
  load();
}

void LearnedTypes::load() {
  const auto text = load_file(file_, kFileBytes);
  const auto root =
      json::parse_object(text ? *text : "{}", {.depth = limits::kJsonDepth, .bytes = kFileBytes});
  if (!root || json::find_int(*root, "version") != kVersion) return;
  const json::object* servers = json::find_object(*root, "servers");
  for (const auto& server : servers ? *servers : json::object()) {
    const json::object* tools = server.value().if_object();
    for (const auto& tool : tools ? *tools : json::object()) {
      const json::object* entry = tool.value().if_object();
      const json::object* schema = entry ? json::find_object(*entry, "schema") : nullptr;
      if (!schema || count_ >= limits::kLearnedTypes) continue;
      Entry loaded{std::string(json::find_string(*entry, "inputHash").value_or("")),
                   {*schema, static_cast<std::size_t>(json::find_int(*entry, "samples").value_or(1))}};
      servers_[std::string(server.key())].emplace(tool.key(), std::move(loaded));
      ++count_;
    }
  }
}

const LearnedTypes::Entry* LearnedTypes::find_entry(const ToolKey& key) const {
  const auto server = servers_.find(key.server);
  if (server == servers_.end()) return nullptr;
  const auto tool = server->second.find(key.tool);
  return tool == server->second.end() || tool->second.schema_hash != key.schema_hash ? nullptr
                                                                                     : &tool->second;
}

bool LearnedTypes::wants(const ToolKey& key) const {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find_entry(key);
  return entry ? entry->learned.samples < limits::kLearnedSamples : count_ < limits::kLearnedTypes;
}

bool LearnedTypes::learn(const ToolKey& key, const json::value& sample) {
  json::value schema = learned_from(sample);
  const std::lock_guard lock(mutex_);
  Tools& tools = servers_[key.server];
  const auto [place, is_new] = tools.try_emplace(key.tool);
  Entry& entry = place->second;
  if (is_new && ++count_ > limits::kLearnedTypes) {
    tools.erase(place);
    --count_;
    return false;
  }
  if (is_new || entry.schema_hash != key.schema_hash)
    entry = {key.schema_hash, {bounded_schema(std::move(schema)), 1}};
  else {
    json::value merged = bounded_schema(merged_schemas(entry.learned.schema, schema));
    const bool same = merged == entry.learned.schema;
    entry.learned.schema = std::move(merged);
    if (++entry.learned.samples; same) return false;
  }
  changed_ = true;
  return true;
}

std::optional<LearnedTypes::Learned> LearnedTypes::find(const ToolKey& key) const {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find_entry(key);
  return entry ? std::optional(entry->learned) : std::nullopt;
}

std::string LearnedTypes::write_locked() const {
  json::object servers;
  for (const auto& [server, tools] : servers_) {
    json::object listed;
    for (const auto& [tool, entry] : tools)
      listed[tool] = json::object{{"inputHash", entry.schema_hash},
                                  {"samples", entry.learned.samples},
                                  {"schema", entry.learned.schema}};
    servers[server] = std::move(listed);
  }
  return json::write(json::object{{"version", kVersion}, {"servers", std::move(servers)}}) + "\n";
}

Result<void> LearnedTypes::save() {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (!changed_) return {};
    text = write_locked();
    changed_ = false;
  }
  Result<void> written = replace_file(file_, text);
  if (written) return written;
  const std::lock_guard lock(mutex_);
  changed_ = true;
  return written;
}

}  // namespace relay::codemode
