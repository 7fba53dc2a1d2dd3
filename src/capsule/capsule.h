// Capsule: one run's code, dependencies, entry and policy, sealed. A value: cheap to copy, never changed.
//
// Layers are shared: a thousand runs with the same dependencies hold one copy of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capsule/manifest.h"

namespace relay::capsule {

using Bytes = std::shared_ptr<const std::string>;

struct Capsule {
  Manifest manifest;
  std::string text;           // the canonical manifest, exactly what is signed and sent
  std::string hash;           // SHA-256 of text: the capsule's name
  std::string jws;            // over text, payload detached
  std::vector<Bytes> layers;  // in the order of manifest.layers
};

/// capsule.json: the manifest's text with "sig" as its last member.
std::string capsule_document(const Capsule& capsule);

/// The two parts of a capsule.json, as views into it. Fails unless "sig" is the last member.
struct DocumentParts {
  std::string text;  // the manifest
  std::string jws;
};
Result<DocumentParts> split_document(std::string_view document);

/// Every layer has the size and the hash that the manifest promises.
Result<void> check_layers(const Manifest& manifest, const std::vector<Bytes>& layers);

/// The `layers` member of the start frame that carries this capsule to a run child.
json::array wire_layers(const Manifest& manifest);

}  // namespace relay::capsule
