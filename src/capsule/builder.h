// CapsuleBuilder: turns a request to run code into a sealed capsule. No disk, no process: a few microseconds.
//
// Plain code costs one hash of the source, one of the manifest, and a signature; the signature of a manifest
// that was signed lately is remembered, so that running the same thing again costs hashes only. Dependencies
// come in as a layer that is already resolved (packages/packages.h). The builder does not write to disk; the
// store does that later.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "capsule/capsule.h"
#include "capsule/signing.h"

namespace relay::capsule {

/// A resolved set of packages, packed. Shared by every capsule that uses it.
struct DepsLayer {
  Bytes bytes;         // the zip
  std::string sha256;  // of it

  bool operator==(const DepsLayer&) const = default;
};

struct BuildRequest {
  Language language = Language::js;
  std::string code;
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::string cwd = "/";
  json::object policy;
  std::optional<DepsLayer> deps;
  std::string file_name =
      {};  // under which stack traces show the code; empty, or no plain name: main.js or main.py
};

/// The ids that manifests name, as the runtimes on this machine call themselves.
struct RuntimeIds {
  std::string js = "quickjs@3.6.2";
  std::string py = "pyodide@314.0.7";
};

class CapsuleBuilder {
 public:
  CapsuleBuilder(std::shared_ptr<const KeyRing> keys, RuntimeIds runtimes);

  /// Fails with too_large or invalid when the request breaks a limit of the format. May be called from any
  /// thread.
  Result<Capsule> build(BuildRequest request);

  [[nodiscard]] const KeyRing& keys() const { return *keys_; }

 private:
  std::string signature_of(const std::string& hash, const std::string& text);

  std::shared_ptr<const KeyRing> keys_;
  RuntimeIds runtimes_;
  // Signatures made lately, newest first: hash of the manifest -> JWS.
  std::mutex mutex_;
  std::list<std::pair<std::string, std::string>> recent_;
  std::unordered_map<std::string_view, std::list<std::pair<std::string, std::string>>::iterator> by_hash_;
};

/// Checks everything a harness checks: form, signature, hashes.
Result<void> verify(const KeyRing& keys, const Capsule& capsule);

}  // namespace relay::capsule
