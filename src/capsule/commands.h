// `relay capsule build|inspect|verify` and the loading half of `relay capsule run`, as functions: options in,
// text out, exit code back. 0 done, 1 the capsule is not sound, 2 the command cannot be carried out.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "capsule/builder.h"

namespace relay::capsule {

struct CapsuleBuildOptions {
  std::filesystem::path source;  // main.js or main.py: the ending tells the language
  std::filesystem::path output;  // a directory that does not exist yet; empty: the capsule's name
  std::filesystem::path keys;    // the key directory
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::string cwd = "/";
  json::object policy;
  std::optional<DepsLayer> deps;  // resolved before, by npm_deps.h or py_deps.h
  RuntimeIds runtimes;
};

/// What a file's ending says it is written in.
Result<Language> language_of(const std::filesystem::path& source);
Result<std::string> load_source(const std::filesystem::path& source);

/// Writes capsule.json and the layers, prints the capsule's name.
int run_capsule_build(const CapsuleBuildOptions& options, std::ostream& out, std::ostream& err);

struct CapsuleReadOptions {
  std::filesystem::path directory;  // with capsule.json in it
  std::filesystem::path keys;
};

/// Prints the manifest, the layers with their files, and who signed. Verifies nothing but the form.
int run_capsule_inspect(const CapsuleReadOptions& options, std::ostream& out, std::ostream& err);
/// Prints one line for each check.
int run_capsule_verify(const CapsuleReadOptions& options, std::ostream& out, std::ostream& err);

/// Reads it and checks everything that a harness checks: what `relay capsule run` hands to an executor.
struct VerifiedCapsule {
  Capsule capsule;
  PublicKey key;  // that signed it: the current one or a retired one
};
Result<VerifiedCapsule> load_verified_capsule(const CapsuleReadOptions& options);

}  // namespace relay::capsule
