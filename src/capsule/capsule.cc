#include "capsule/capsule.h"

#include "base/digest.h"

namespace relay::capsule {
namespace {

constexpr std::string_view kSigMember = ",\"sig\":\"";

}  // namespace

std::string capsule_document(const Capsule& capsule) {
  std::string document = capsule.text;
  document.pop_back();
  return document.append(kSigMember).append(capsule.jws).append("\"}");
}

Result<DocumentParts> split_document(std::string_view document) {
  // A JWS has no quote in it, so the last occurrence is the member itself, whatever the manifest holds.
  const std::size_t at = document.rfind(kSigMember);
  if (at == std::string_view::npos || !document.ends_with("\"}"))
    return fail(invalid("capsule.json must end with its \"sig\" member"));
  const std::size_t begin = at + kSigMember.size();
  if (begin + 2 > document.size()) return fail(invalid("capsule.json must end with its \"sig\" member"));
  DocumentParts parts;
  parts.text.append(document.substr(0, at)).append("}");
  parts.jws = document.substr(begin, document.size() - 2 - begin);
  return parts;
}

Result<void> check_layers(const Manifest& manifest, const std::vector<Bytes>& layers) {
  if (layers.size() != manifest.layers.size())
    return fail(invalid("the capsule lacks a layer that its manifest names"));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& promised = manifest.layers[i];
    if (layers[i]->size() != promised.bytes || sha256_hex(*layers[i]) != promised.sha256)
      return fail(invalid(
          fmt::format("layer '{}' is not the one that was signed: its hash or size differs", promised.id)));
  }
  return {};
}

json::array wire_layers(const Manifest& manifest) {
  json::array layers;
  for (const Layer& layer : manifest.layers) {
    json::object item{{"id", layer.id}, {"bytes", layer.bytes}};
    if (layer.format == LayerFormat::raw) {
      item["format"] = "raw";
      item["path"] = layer.mount;
    } else {
      item["format"] = "zip";
    }
    layers.emplace_back(std::move(item));
  }
  return layers;
}

}  // namespace relay::capsule
