#include "capsule/manifest.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"

namespace relay::capsule {
namespace {

constexpr std::string_view kVersion = "1";

std::string_view name_of(LayerFormat format) {
  switch (format) {
    case LayerFormat::raw: return "raw";
    case LayerFormat::zip: return "zip";
  }
  return "";
}

json::string text_value(std::string_view text) {
  return json::string(text.data(), text.size());
}

json::object entry_value(const EntryPoint& entry) {
  json::array argv;
  for (const std::string& argument : entry.argv) argv.emplace_back(text_value(argument));
  json::object env;
  for (const auto& [name, value] : entry.env) env[name] = text_value(value);
  return {{"path", text_value(entry.path)},
          {"argv", std::move(argv)},
          {"env", std::move(env)},
          {"cwd", text_value(entry.cwd)}};
}

json::object layer_value(const Layer& layer) {
  json::object value{{"id", text_value(layer.id)},
                     {"format", text_value(name_of(layer.format))},
                     {"path", text_value(layer.path)},
                     {"sha256", text_value(layer.sha256)},
                     {"bytes", layer.bytes}};
  if (layer.format == LayerFormat::raw) value["mount"] = text_value(layer.mount);
  return value;
}

Error bad(std::string_view what) {
  return invalid(fmt::format("not a capsule manifest: {}", what));
}

// Reading. Unknown members need no check of their own: the text would not come out the same when written
// again.
Result<std::string> take_string(const json::object& object, std::string_view key) {
  const auto found = json::find_string(object, key);
  if (!found) return fail(bad(fmt::format("'{}' must be a string", key)));
  return std::string(*found);
}

Result<std::vector<std::string>> take_argv(const json::object& object) {
  const json::array* items = json::find_array(object, "argv");
  if (!items) return fail(bad("'entry.argv' must be an array"));
  std::vector<std::string> argv;
  for (const json::value& item : *items) {
    if (!item.is_string()) return fail(bad("'entry.argv' must hold strings"));
    argv.emplace_back(json::view(item.get_string()));
  }
  return argv;
}

Result<std::map<std::string, std::string>> take_env(const json::object& object) {
  const json::object* members = json::find_object(object, "env");
  if (!members) return fail(bad("'entry.env' must be an object"));
  std::map<std::string, std::string> env;
  for (const auto& member : *members) {
    if (!member.value().is_string()) return fail(bad("'entry.env' must hold strings"));
    env.emplace(std::string(member.key()), std::string(json::view(member.value().get_string())));
  }
  return env;
}

Result<EntryPoint> take_entry(const json::object& root) {
  const json::object* object = json::find_object(root, "entry");
  if (!object) return fail(bad("'entry' must be an object"));
  EntryPoint entry;
  RELAY_TRY(entry.path, take_string(*object, "path"));
  RELAY_TRY(entry.argv, take_argv(*object));
  RELAY_TRY(entry.env, take_env(*object));
  RELAY_TRY(entry.cwd, take_string(*object, "cwd"));
  return entry;
}

Result<LayerFormat> take_format(const json::object& object) {
  const auto name = json::find_string(object, "format");
  if (name == "raw") return LayerFormat::raw;
  if (name == "zip") return LayerFormat::zip;
  return fail(bad("a layer's 'format' must be \"raw\" or \"zip\""));
}

Result<Layer> take_layer(const json::value& item) {
  const json::object* object = item.if_object();
  if (!object) return fail(bad("'fsLayers' must hold objects"));
  Layer layer;
  RELAY_TRY(layer.id, take_string(*object, "id"));
  RELAY_TRY(layer.format, take_format(*object));
  RELAY_TRY(layer.path, take_string(*object, "path"));
  RELAY_TRY(layer.sha256, take_string(*object, "sha256"));
  if (layer.format == LayerFormat::raw) {
    RELAY_TRY(layer.mount, take_string(*object, "mount"));
  }
  const auto bytes = json::find_int(*object, "bytes");
  if (!bytes || *bytes < 0) return fail(bad("a layer's 'bytes' must be a whole number"));
  layer.bytes = static_cast<std::uint64_t>(*bytes);
  return layer;
}

Result<std::vector<Layer>> take_layers(const json::object& root) {
  const json::array* items = json::find_array(root, "fsLayers");
  if (!items || items->empty() || items->size() > 2)
    return fail(bad("'fsLayers' must hold one or two layers"));
  std::vector<Layer> layers;
  for (const json::value& item : *items) {
    RELAY_TRY(Layer layer, take_layer(item));
    layers.push_back(std::move(layer));
  }
  return layers;
}

Result<Language> take_language(const json::object& root) {
  const auto name = json::find_string(root, "language");
  if (name == "js") return Language::js;
  if (name == "py") return Language::py;
  return fail(bad("'language' must be \"js\" or \"py\""));
}

Result<std::string> take_runtime(const json::object& root) {
  const json::object* runtime = json::find_object(root, "runtime");
  if (!runtime) return fail(bad("'runtime' must be an object"));
  return take_string(*runtime, "id");
}

// Rules.
bool is_runtime_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '@' || c == '.' || c == '-' || c == '_';
  });
}

bool is_clean_text(std::string_view text) {
  return text.find('\0') == std::string_view::npos && is_valid_utf8(text);
}

Result<void> check_entry(const EntryPoint& entry) {
  if (!is_guest_path(entry.path) || entry.path == "/")
    return fail(bad("'entry.path' must be an absolute path"));
  if (!is_guest_path(entry.cwd)) return fail(bad("'entry.cwd' must be an absolute path without '..'"));
  if (entry.argv.size() > limits::kManifestArgs || entry.env.size() > limits::kManifestArgs)
    return fail(
        too_large(fmt::format("more than {} arguments or environment variables", limits::kManifestArgs)));
  for (const std::string& argument : entry.argv)
    if (!is_clean_text(argument)) return fail(bad("'entry.argv' must hold UTF-8 without NUL"));
  for (const auto& [name, value] : entry.env)
    if (name.empty() || name.find('=') != std::string::npos || !is_clean_text(name) || !is_clean_text(value))
      return fail(bad("'entry.env' must map names to UTF-8 without NUL"));
  return {};
}

Result<void> check_layer(const Layer& layer, std::string_view id, std::uint64_t max_bytes) {
  if (layer.id != id) return fail(bad(fmt::format("expected layer '{}' here", id)));
  if (!is_layer_file(layer.path) || layer.path == "capsule.json")
    return fail(bad("a layer's 'path' must be a plain file name"));
  if (!is_sha256(layer.sha256)) return fail(bad("a layer's 'sha256' must be 64 hex digits"));
  if (layer.format == LayerFormat::raw && (!is_guest_path(layer.mount) || layer.mount == "/"))
    return fail(bad("a raw layer's 'mount' must be an absolute path"));
  if (layer.bytes > max_bytes)
    return fail(
        too_large(fmt::format("the {} layer has {} bytes, the limit is {}", id, layer.bytes, max_bytes)));
  return {};
}

Result<void> check_layers(const std::vector<Layer>& layers) {
  if (layers.empty() || layers.size() > 2)
    return fail(bad("one layer of code and at most one of dependencies"));
  RELAY_CHECK(check_layer(layers[0], "code", limits::kCapsuleCodeBytes));
  if (layers.size() == 1) return {};
  RELAY_CHECK(check_layer(layers[1], "deps", limits::kCapsuleDepsBytes));
  if (layers[0].path == layers[1].path) return fail(bad("two layers with one file name"));
  return {};
}

Result<void> check_policy(const json::object& policy) {
  for (const auto& member : policy)
    if (!member.value().is_object()) return fail(bad("each block of 'policy' must be an object"));
  return {};
}

}  // namespace

std::string_view name_of(Language language) {
  switch (language) {
    case Language::js: return "js";
    case Language::py: return "py";
  }
  return "";
}

std::string canonical_text(const Manifest& manifest) {
  json::array layers;
  for (const Layer& layer : manifest.layers) layers.emplace_back(layer_value(layer));
  const json::value value(json::object{{"version", text_value(kVersion)},
                                       {"language", text_value(name_of(manifest.language))},
                                       {"runtime", json::object{{"id", text_value(manifest.runtime_id)}}},
                                       {"entry", entry_value(manifest.entry)},
                                       {"fsLayers", std::move(layers)},
                                       {"policy", manifest.policy}});
  return json::write_canonical(value);
}

Result<void> validate(const Manifest& manifest) {
  if (!is_runtime_id(manifest.runtime_id)) return fail(bad("'runtime.id' is missing or malformed"));
  RELAY_CHECK(check_entry(manifest.entry));
  RELAY_CHECK(check_layers(manifest.layers));
  return check_policy(manifest.policy);
}

Result<Manifest> parse_manifest(std::string_view text) {
  RELAY_TRY(const json::object root, json::parse_object(text, {.bytes = limits::kManifestBytes}));
  if (json::find_string(root, "version") != kVersion) return fail(bad("'version' must be \"1\""));
  Manifest manifest;
  RELAY_TRY(manifest.language, take_language(root));
  RELAY_TRY(manifest.runtime_id, take_runtime(root));
  RELAY_TRY(manifest.entry, take_entry(root));
  RELAY_TRY(manifest.layers, take_layers(root));
  const json::object* policy = json::find_object(root, "policy");
  if (!policy) return fail(bad("'policy' must be an object"));
  manifest.policy = *policy;
  RELAY_CHECK(validate(manifest));
  if (canonical_text(manifest) != text) return fail(bad("the text is not in its canonical form"));
  return manifest;
}

bool is_guest_path(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() > limits::kManifestPathBytes || !is_clean_text(path))
    return false;
  if (path == "/") return true;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view component = path.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool is_layer_file(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() != '.' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace relay::capsule
