// Manifest: what a capsule says about itself, as a value. Pure: no file, no key, no clock.
//
// A manifest names the runtime, the entry point, the layers with their hashes and the effective policy. Its
// canonical text (members sorted, no white space) is what is hashed, signed and sent: the SHA-256 of that
// text is the capsule's name. parse_manifest takes nothing but canonical text, so that one manifest has one
// spelling and two parsers cannot read two things in it (a member that occurs twice, a number written another
// way). docs/formats/capsule.md has the grammar, docs/formats/capsule.schema.json the schema.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace relay::capsule {

enum class Language : std::uint8_t { js, py };
std::string_view name_of(Language language);

struct EntryPoint {
  std::string path;               // absolute in the guest's tree: "/app/main.js"
  std::vector<std::string> argv;  // without the program's own name
  std::map<std::string, std::string> env;
  std::string cwd = "/";

  bool operator==(const EntryPoint&) const = default;
};

/// raw: the layer is one file, mounted at `mount`. zip: an archive whose names are paths from "/".
enum class LayerFormat : std::uint8_t { raw, zip };

struct Layer {
  std::string id;  // "code" or "deps"
  LayerFormat format = LayerFormat::raw;
  std::string path;    // the file's name beside capsule.json: "main.js", "fs.deps.zip"
  std::string mount;   // raw only: where the guest sees it
  std::string sha256;  // of the layer's bytes as they are sent, 64 hex digits
  std::uint64_t bytes = 0;

  bool operator==(const Layer&) const = default;
};

struct Manifest {
  Language language = Language::js;
  std::string runtime_id;  // "quickjs@3.6.2"
  EntryPoint entry;
  std::vector<Layer> layers;  // the code first, then at most one layer of dependencies
  json::object policy;        // network, filesystem, limits: already the intersection of server and client

  bool operator==(const Manifest&) const = default;
};

std::string canonical_text(const Manifest& manifest);

/// Refuses everything that canonical_text would not have written, and every size over base/limits.h.
Result<Manifest> parse_manifest(std::string_view text);

/// What canonical_text is about to write, checked by the same rules; for manifests made from a caller's
/// arguments.
Result<void> validate(const Manifest& manifest);

/// Absolute, no empty, "." or ".." component, no NUL, not too long. "/" is fine.
bool is_guest_path(std::string_view path);
/// A plain file name: letters, digits, '.', '_' and '-', not beginning with '.'.
bool is_layer_file(std::string_view name);
/// 64 lower-case hex digits.
bool is_sha256(std::string_view text);

}  // namespace relay::capsule
