#include "capsule/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/disk.h"
#include "capsule/shelf.h"

namespace relay::capsule {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDocument = "capsule.json";
constexpr std::string_view kLayers = ".layers";
constexpr std::size_t kDocumentBytes = limits::kManifestBytes + 4 * limits::kKiB;
constexpr auto kMarkEvery = std::chrono::minutes(10);  // the order of use need not be finer than that
constexpr std::uint64_t kPruneEvery = 64 * limits::kMiB;
constexpr std::size_t kSoundRemembered = 8192;

Result<Capsule> load_sound(const fs::path& directory) {
  RELAY_TRY(Capsule capsule, load_capsule(directory));
  RELAY_CHECK(check_layers(capsule.manifest, capsule.layers));
  if (capsule.hash != directory.filename().string())
    return fail(invalid("the capsule is stored under another name"));
  return capsule;
}

std::string_view content_type_of(std::string_view file) {
  if (file.ends_with(".json")) return "application/json";
  if (file.ends_with(".zip")) return "application/zip";
  return "text/plain; charset=utf-8";
}

Result<std::string> etag_of(const fs::path& directory, std::string_view file) {
  if (file == kDocument) return fmt::format("\"{}\"", directory.filename().string());
  RELAY_TRY(const std::string document, load_file(directory / kDocument, kDocumentBytes));
  RELAY_TRY(const DocumentParts parts, split_document(document));
  RELAY_TRY(const Manifest manifest, parse_manifest(parts.text));
  for (const Layer& layer : manifest.layers)
    if (layer.path == file) return fmt::format("\"{}\"", layer.sha256);
  return fail(not_found("the capsule has no such file"));
}

}  // namespace

Result<Capsule> load_capsule(const fs::path& directory) {
  RELAY_TRY(const std::string document, load_file(directory / "capsule.json", kDocumentBytes));
  RELAY_TRY(DocumentParts parts, split_document(document));
  Capsule capsule;
  RELAY_TRY(capsule.manifest, parse_manifest(parts.text));
  capsule.hash = sha256_hex(parts.text);
  capsule.text = std::move(parts.text);
  capsule.jws = std::move(parts.jws);
  for (const Layer& layer : capsule.manifest.layers) {
    RELAY_TRY(std::string bytes, load_file(directory / layer.path, limits::kCapsuleBytes));
    capsule.layers.push_back(std::make_shared<const std::string>(std::move(bytes)));
  }
  return capsule;
}

// The right to write one hash: the second thread waits for the first, and then finds the work done.
class CapsuleStore::Turn {
 public:
  Turn(CapsuleStore& store, const std::string& hash) : store_(store), hash_(hash) {
    std::unique_lock lock(store_.mutex_);
    store_.turn_ended_.wait(lock, [&] { return !store_.saving_.contains(hash_); });
    store_.saving_.insert(hash_);
  }
  ~Turn() {
    {
      const std::scoped_lock lock(store_.mutex_);
      store_.saving_.erase(hash_);
    }
    store_.turn_ended_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  CapsuleStore& store_;
  const std::string& hash_;
};

CapsuleStore::CapsuleStore(fs::path root, const Clock& clock, StoreLimits limits)
    : root_(std::move(root)), clock_(clock), limits_(limits) {}

Result<std::unique_ptr<CapsuleStore>> CapsuleStore::open(fs::path root, const Clock& clock,
                                                         StoreLimits limits) {
  RELAY_CHECK(make_directory(root / kLayers));
  std::unique_ptr<CapsuleStore> store(new CapsuleStore(std::move(root), clock, limits));
  RELAY_CHECK(store->prune());
  return store;
}

Result<void> CapsuleStore::save(const Capsule& capsule) {
  const Turn turn(*this, capsule.hash);
  RELAY_CHECK(save_in_turn(capsule));
  mark_used(capsule.hash);
  std::uint64_t since_prune = 0;
  {
    const std::scoped_lock lock(mutex_);
    since_prune = bytes_since_prune_;
  }
  if (since_prune >= std::min(kPruneEvery, limits_.bytes / 2 + 1)) RELAY_CHECK(prune());
  return {};
}

Result<void> CapsuleStore::save_in_turn(const Capsule& capsule) {
  {
    const std::scoped_lock lock(mutex_);
    if (sound_.contains(capsule.hash)) return {};
  }
  if (!is_sound(capsule)) RELAY_CHECK(write(capsule));
  const std::scoped_lock lock(mutex_);
  if (sound_.size() >= kSoundRemembered) sound_.clear();
  sound_.emplace(capsule.hash, MonoTime::min());
  return {};
}

bool CapsuleStore::is_sound(const Capsule& capsule) {
  std::error_code error;
  const fs::path directory = root_ / capsule.hash;
  if (!fs::exists(directory, error)) return false;
  // Signed anew after a rotation: the manifest is the same, the signature is not.
  if (const auto stored = load_sound(directory); stored && stored->jws == capsule.jws) return true;
  discard(directory);
  return false;
}

Result<void> CapsuleStore::put_layer(const fs::path& directory, const Layer& layer,
                                     const std::string& bytes) {
  const fs::path target = directory / layer.path;
  if (layer.id == "code") return write_new_file(target, bytes);
  const fs::path shared = root_ / kLayers / layer.sha256;
  std::error_code error;
  if (fs::file_size(shared, error) != bytes.size() || error) RELAY_CHECK(replace_file(shared, bytes));
  // The shared copy may have rotted; a capsule is linked to it only when it still is what its name says.
  RELAY_TRY(const std::string present, load_file(shared, limits::kCapsuleBytes));
  if (present != bytes) RELAY_CHECK(replace_file(shared, bytes));
  if (::link(shared.c_str(), target.c_str()) == 0) return {};
  return write_new_file(target, bytes);
}

Result<void> CapsuleStore::write(const Capsule& capsule) {
  const fs::path temporary = root_ / temporary_name(".tmp-");
  RELAY_CHECK(make_directory(temporary));
  Result<void> done = write_new_file(temporary / kDocument, capsule_document(capsule));
  for (std::size_t i = 0; done && i < capsule.layers.size(); ++i)
    done = put_layer(temporary, capsule.manifest.layers[i], *capsule.layers[i]);
  if (done) done = sync_directory(temporary);
  const bool placed = done && ::rename(temporary.c_str(), (root_ / capsule.hash).c_str()) == 0;
  // Another process may have been first: its copy is as good as ours.
  if (done && !placed && errno != EEXIST && errno != ENOTEMPTY)
    done = fail(from_errno(errno, "rename a capsule into place"));
  if (!placed) discard(temporary);
  if (!done) return done;
  {
    const std::scoped_lock lock(mutex_);
    ++written_;
    bytes_since_prune_ += capsule.text.size() + capsule.layers[0]->size();
  }
  return sync_directory(root_);
}

Result<Capsule> CapsuleStore::load(std::string_view hash) {
  if (!is_sha256(hash)) return fail(invalid("a capsule's name is 64 hex digits"));
  const fs::path directory = root_ / hash;
  auto capsule = load_sound(directory);
  if (capsule) {
    mark_used(hash);
    return capsule;
  }
  std::error_code error;
  if (fs::exists(directory, error)) discard(directory);
  {
    const std::scoped_lock lock(mutex_);
    sound_.erase(std::string(hash));
  }
  return fail(not_found(fmt::format("no sound capsule {} in the store: {}", hash, capsule.error().message)));
}

Result<StoredFile> CapsuleStore::open_file(std::string_view hash, std::string_view file) {
  if (!is_sha256(hash) || !is_layer_file(file)) return fail(not_found("no such capsule file"));
  const fs::path directory = root_ / hash;
  StoredFile stored;
  stored.fd = Fd(::open((directory / file).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (!stored.fd.is_open() || ::fstat(stored.fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(not_found("no such capsule file"));
  stored.bytes = static_cast<std::uint64_t>(status.st_size);
  stored.content_type = content_type_of(file);
  RELAY_TRY(stored.etag, etag_of(directory, file));
  mark_used(hash);
  return stored;
}

void CapsuleStore::mark_used(std::string_view hash) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = sound_.find(std::string(hash)); known != sound_.end()) {
      if (known->second != MonoTime::min() && clock_.mono() - known->second < kMarkEvery) return;
      known->second = clock_.mono();
    }
  }
  set_used(root_ / hash / kDocument, clock_.wall());
}

void CapsuleStore::discard(const fs::path& directory) {
  discard_directory(directory);
}

Result<PruneReport> CapsuleStore::prune() {
  sweep_leftovers(root_, clock_.wall());
  RELAY_TRY(std::vector<ShelfEntry> entries, list_shelf(root_, kDocument));
  const ShelfCut cut = choose_cut(std::move(entries), clock_.wall(), limits_.kept, limits_.bytes);
  for (const ShelfEntry& entry : cut.removed) discard(root_ / entry.name);
  drop_unlinked(root_ / kLayers);
  const std::scoped_lock lock(mutex_);
  for (const ShelfEntry& entry : cut.removed) sound_.erase(entry.name);
  bytes_since_prune_ = 0;
  return PruneReport{cut.removed.size(), cut.kept, cut.bytes_kept};
}

std::uint64_t CapsuleStore::written() const {
  const std::scoped_lock lock(mutex_);
  return written_;
}

}  // namespace relay::capsule
