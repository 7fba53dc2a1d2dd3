#include "packages/layer_cache.h"

#include <unistd.h>

#include <algorithm>

#include "base/digest.h"
#include "base/disk.h"
#include "capsule/shelf.h"
#include "packages/tool_run.h"

namespace relay::packages {
namespace {

constexpr std::string_view kZip = "fs.deps.zip";
constexpr std::string_view kFacts = "layer.json";

}  // namespace

std::optional<capsule::DepsLayer> LayerCache::find(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(recent_, key, &std::pair<std::string, capsule::DepsLayer>::first);
  if (found == recent_.end()) return std::nullopt;
  recent_.splice(recent_.begin(), recent_, found);
  return recent_.front().second;
}

bool LayerCache::is_stored(const std::string& key) const {
  std::error_code error;
  return std::filesystem::exists(root_ / key / kFacts, error);
}

Result<capsule::DepsLayer> LayerCache::load(const std::string& key) {
  const std::filesystem::path directory = root_ / key;
  RELAY_TRY(const std::string text, load_file(directory / kFacts, 4096));
  RELAY_TRY(const json::object facts, json::parse_object(text));
  auto zip = load_file(directory / kZip, limits::kCapsuleDepsBytes);
  if (!zip || sha256_hex(*zip) != json::find_string(facts, "sha256")) {
    capsule::discard_directory(directory);
    return fail(not_found("the cached dependencies were damaged and have been removed"));
  }
  capsule::set_used(directory / kFacts, clock_.wall());
  capsule::DepsLayer layer{std::make_shared<const std::string>(std::move(*zip)),
                           std::string(*json::find_string(facts, "sha256"))};
  remember(key, layer);
  return layer;
}

Result<capsule::DepsLayer> LayerCache::save(const std::string& key, std::string zip) {
  capsule::DepsLayer layer{nullptr, sha256_hex(zip)};
  const std::filesystem::path temporary = root_ / temporary_name(".tmp-");
  RELAY_CHECK(make_directory(temporary));
  const std::string facts = json::write(json::object{{"bytes", zip.size()}, {"sha256", layer.sha256}});
  Result<void> done = write_new_file(temporary / kZip, zip);
  if (done) done = write_new_file(temporary / kFacts, facts);
  if (done) done = sync_directory(temporary);
  // When the name is taken, another process was faster with the same thing.
  const bool placed = done && ::rename(temporary.c_str(), (root_ / key).c_str()) == 0;
  if (!placed) capsule::discard_directory(temporary);
  if (!done) return fail(done.error());
  layer.bytes = std::make_shared<const std::string>(std::move(zip));
  remember(key, layer);
  RELAY_CHECK(sync_directory(root_));
  return layer;
}

Result<void> LayerCache::prune() {
  return capsule::prune_shelf(root_, kFacts, clock_.wall());
}

void LayerCache::remember(const std::string& key, const capsule::DepsLayer& layer) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(recent_, key, &std::pair<std::string, capsule::DepsLayer>::first) != recent_.end())
    return;
  recent_.emplace_front(key, layer);
  recent_bytes_ += layer.bytes->size();
  while (recent_bytes_ > limits::kDepsInMemoryBytes && recent_.size() > 1) {
    recent_bytes_ -= recent_.back().second.bytes->size();
    recent_.pop_back();
  }
}

Result<std::string> pack_layer(const archive::ZipFiles& files) {
  RELAY_TRY(std::string stored, archive::write_zip(files, archive::ZipMethod::store));
  if (stored.size() <= limits::kCapsuleDepsBytes) return stored;
  RELAY_TRY(std::string deflated, archive::write_zip(files, archive::ZipMethod::deflate));
  if (deflated.size() <= limits::kCapsuleDepsBytes) return deflated;
  return fail(dependency_error(fmt::format("the dependencies come to {} bytes, the limit is {}",
                                           deflated.size(), limits::kCapsuleDepsBytes)));
}

}  // namespace relay::packages
