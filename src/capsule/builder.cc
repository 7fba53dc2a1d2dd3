#include "capsule/builder.h"

#include "base/digest.h"

namespace relay::capsule {
namespace {

std::string_view file_of(Language language) {
  switch (language) {
    case Language::js: return "main.js";
    case Language::py: return "main.py";
  }
  return "";
}

// What a user calls a script is fit to be shown when nobody can mistake it for something else in a trace.
bool is_plain_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= kLongest && name.find_first_not_of(kLetters) == name.npos &&
         name.find_first_not_of('.') != name.npos;
}

// Stored under one name, whatever it is called: the store and its readers know the files of a capsule.
Layer code_layer(Language language, std::string_view code, std::string_view name) {
  const std::string_view file = file_of(language);
  return {.id = "code",
          .format = LayerFormat::raw,
          .path = std::string(file),
          .mount = fmt::format("/app/{}", is_plain_name(name) ? name : file),
          .sha256 = sha256_hex(code),
          .bytes = code.size()};
}

Layer deps_layer(const DepsLayer& deps) {
  return {.id = "deps",
          .format = LayerFormat::zip,
          .path = "fs.deps.zip",
          .sha256 = deps.sha256,
          .bytes = deps.bytes->size()};
}

Manifest manifest_of(BuildRequest& request, const RuntimeIds& runtimes) {
  Manifest manifest{.language = request.language,
                    .runtime_id = request.language == Language::js ? runtimes.js : runtimes.py,
                    .layers = {code_layer(request.language, request.code, request.file_name)},
                    .policy = std::move(request.policy)};
  manifest.entry = {manifest.layers[0].mount, std::move(request.argv), std::move(request.env),
                    std::move(request.cwd)};
  if (request.deps) manifest.layers.push_back(deps_layer(*request.deps));
  return manifest;
}

}  // namespace

CapsuleBuilder::CapsuleBuilder(std::shared_ptr<const KeyRing> keys, RuntimeIds runtimes)
    : keys_(std::move(keys)), runtimes_(std::move(runtimes)) {}

Result<Capsule> CapsuleBuilder::build(BuildRequest request) {
  Capsule capsule;
  capsule.manifest = manifest_of(request, runtimes_);
  RELAY_CHECK(validate(capsule.manifest));
  capsule.text = canonical_text(capsule.manifest);
  if (capsule.text.size() > limits::kManifestBytes)
    return fail(too_large(fmt::format("arguments, environment and policy come to {} bytes, the limit is {}",
                                      capsule.text.size(), limits::kManifestBytes)));
  capsule.hash = sha256_hex(capsule.text);
  capsule.jws = signature_of(capsule.hash, capsule.text);
  capsule.layers.push_back(std::make_shared<const std::string>(std::move(request.code)));
  if (request.deps) capsule.layers.push_back(request.deps->bytes);
  return capsule;
}

std::string CapsuleBuilder::signature_of(const std::string& hash, const std::string& text) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = by_hash_.find(hash); found != by_hash_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->second;
    }
  }
  std::string jws = sign_jws(keys_->current(), kCapsuleJwsType, text);
  const std::scoped_lock lock(mutex_);
  if (by_hash_.contains(hash)) return jws;
  recent_.emplace_front(hash, jws);
  by_hash_.emplace(recent_.front().first, recent_.begin());
  if (recent_.size() > limits::kSignaturesKept) {
    by_hash_.erase(recent_.back().first);
    recent_.pop_back();
  }
  return jws;
}

Result<void> verify(const KeyRing& keys, const Capsule& capsule) {
  RELAY_CHECK(verify_jws(keys, kCapsuleJwsType, capsule.jws, capsule.text));
  RELAY_TRY(const Manifest manifest, parse_manifest(capsule.text));
  return check_layers(manifest, capsule.layers);
}

}  // namespace relay::capsule
