#include "capsule/commands.h"

#include "archive/zip.h"
#include "base/disk.h"
#include "capsule/store.h"

namespace relay::capsule {
namespace {

namespace fs = std::filesystem;

constexpr int kUnsound = 1, kCannot = 2;

int complain(std::ostream& err, const Error& error, int code) {
  err << "relay: " << describe(error) << "\n";
  return code;
}

// What is not there is a mistake of whoever typed the name, not a capsule that was tampered with.
Result<Capsule> load_named(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error))
    return fail(
        not_found(fmt::format("there is no {}: name a directory with capsule.json in it, or a stored capsule",
                              directory.string())));
  if (!fs::exists(directory / "capsule.json", error))
    return fail(not_found(fmt::format("{} is no capsule: it has no capsule.json", directory.string())));
  return load_capsule(directory);
}

int code_of(const Error& error) {
  return error.kind == ErrorKind::not_found ? kCannot : kUnsound;
}

Result<Capsule> build_from(const CapsuleBuildOptions& options) {
  BuildRequest request{.argv = options.argv,
                       .env = options.env,
                       .cwd = options.cwd,
                       .policy = options.policy,
                       .deps = options.deps,
                       .file_name = options.source.filename().string()};
  RELAY_TRY(request.language, language_of(options.source));
  RELAY_TRY(request.code, load_source(options.source));
  RELAY_TRY(KeyRing keys, KeyRing::open(options.keys));
  return CapsuleBuilder(std::make_shared<const KeyRing>(std::move(keys)), options.runtimes)
      .build(std::move(request));
}

Result<void> write_capsule(const Capsule& capsule, const fs::path& directory) {
  std::error_code error;
  if (fs::exists(directory, error))
    return fail(
        Error{ErrorKind::conflict, Blame::peer, fmt::format("{} exists already", directory.string())});
  RELAY_CHECK(make_directory(directory));
  for (std::size_t i = 0; i < capsule.layers.size(); ++i)
    RELAY_CHECK(write_new_file(directory / capsule.manifest.layers[i].path, *capsule.layers[i]));
  return write_new_file(directory / "capsule.json", capsule_document(capsule));
}

void print_layer(std::ostream& out, const Layer& layer, const std::string& bytes) {
  out << fmt::format("layer {}: {}, {} bytes, sha256 {}\n", layer.id, layer.path, layer.bytes, layer.sha256);
  if (layer.format == LayerFormat::raw) {
    out << fmt::format("  {}\n", layer.mount);
    return;
  }
  const auto reader = archive::ZipReader::open(bytes);
  if (!reader) out << fmt::format("  {}\n", reader.error().message);
  if (reader)
    for (const archive::ZipEntry& entry : reader->entries())
      out << fmt::format("  /{}  {} bytes\n", entry.name, entry.bytes);
}

}  // namespace

Result<Language> language_of(const fs::path& source) {
  const std::string ending = source.extension().string();
  for (const std::string_view js : {".js", ".mjs", ".ts", ".mts"})
    if (ending == js) return Language::js;
  if (source.extension() == ".py") return Language::py;
  return fail(
      invalid(fmt::format("{}: a capsule is made from a .js, .mjs, .ts, .mts or .py file", source.string())));
}

Result<std::string> load_source(const fs::path& source) {
  return load_file(source, limits::kCapsuleCodeBytes);
}

int run_capsule_build(const CapsuleBuildOptions& options, std::ostream& out, std::ostream& err) {
  const auto capsule = build_from(options);
  if (!capsule) return complain(err, capsule.error(), kCannot);
  const fs::path output = options.output.empty() ? fs::path(capsule->hash) : options.output;
  if (const auto written = write_capsule(*capsule, output); !written)
    return complain(err, written.error(), kCannot);
  out << capsule->hash << "\n";
  return 0;
}

Result<VerifiedCapsule> load_verified_capsule(const CapsuleReadOptions& options) {
  RELAY_TRY(Capsule capsule, load_named(options.directory));
  RELAY_TRY(const KeyRing keys, KeyRing::open(options.keys));
  RELAY_TRY(const PublicKey* key, verify_jws(keys, kCapsuleJwsType, capsule.jws, capsule.text));
  RELAY_CHECK(check_layers(capsule.manifest, capsule.layers));
  return VerifiedCapsule{std::move(capsule), *key};
}

int run_capsule_inspect(const CapsuleReadOptions& options, std::ostream& out, std::ostream& err) {
  const auto capsule = load_named(options.directory);
  if (!capsule) return complain(err, capsule.error(), code_of(capsule.error()));
  out << fmt::format("capsule {}\n{}\n", capsule->hash, json::write_pretty(*json::parse(capsule->text)));
  for (std::size_t i = 0; i < capsule->layers.size(); ++i)
    print_layer(out, capsule->manifest.layers[i], *capsule->layers[i]);
  out << fmt::format("signature {}\n", capsule->jws);
  return 0;
}

int run_capsule_verify(const CapsuleReadOptions& options, std::ostream& out, std::ostream& err) {
  const auto capsule = load_named(options.directory);
  if (!capsule) return complain(err, capsule.error(), code_of(capsule.error()));
  const auto keys = KeyRing::open(options.keys);
  if (!keys) return complain(err, keys.error(), kCannot);
  const auto signed_by = verify_jws(*keys, kCapsuleJwsType, capsule->jws, capsule->text);
  if (!signed_by) return complain(err, signed_by.error(), kUnsound);
  out << fmt::format("signature  good, key {}\n", (*signed_by)->fingerprint());
  if (const auto layers = check_layers(capsule->manifest, capsule->layers); !layers)
    return complain(err, layers.error(), kUnsound);
  for (const Layer& layer : capsule->manifest.layers)
    out << fmt::format("layer {}  good, {} bytes\n", layer.id, layer.bytes);
  out << fmt::format("capsule {}\n", capsule->hash);
  return 0;
}

}  // namespace relay::capsule
