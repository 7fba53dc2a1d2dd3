// The shape of a JavaScript deps layer, as text in and text out. Pure; npm_deps.h does the deeds.
//
//   deps/index.json      {"lodash": "/deps/lodash.mjs", "csv-parse/sync": "/deps/csv-parse+sync.mjs"}
//   deps/bundle.mjs      every package in one ES module, each evaluated when it is first asked for
//   deps/bundle.mjs.qbc  the same, compiled for the engine at hand; read instead when it is there
//   deps/<name>.mjs      imports the bundle and re-exports one package: a default and its names
//
// The packages are bundled as CommonJS inside one function, so that require() and import give the same
// instance and nothing is evaluated that is not used. An ES module must list its names, and a CommonJS
// package does not: runtime/commonjs-names.mjs (harness/src/hosts/names) finds them in the source, as Node.js
// does.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "archive/zip.h"
#include "base/json.h"

namespace relay::packages {

/// The Node built-ins that a guest has, without "node:".
bool is_guest_builtin(std::string_view name);

/// Where the entry of the bundle is, as esbuild's metafile names it.
std::string entry_path(std::string_view work);
/// entry.cjs: one lazy member for each specifier.
std::string bundle_entry(const std::set<std::string>& specifiers);
/// names<i>.mjs: its metafile tells what an ES module package exports.
std::string names_entry(std::string_view specifier);

enum class Sourcemaps : std::uint8_t { off, on };
/// esbuild's arguments, to be run beside node_modules. `work` is the directory of the entries, relative to
/// that.
std::vector<std::string> bundle_args(std::string_view work, Sourcemaps sourcemaps);
std::vector<std::string> names_args(std::string_view work, std::size_t entries);

/// What esbuild's metafile says about the entry.
struct BundleInputs {
  std::map<std::string, std::string> roots;                 // specifier -> the input file it stands for
  std::map<std::string, std::vector<std::string>> imports;  // input -> inputs it imports
  std::set<std::string> commonjs;                           // inputs in CommonJS form
  std::set<std::string> packages;                           // names of all packages that went in
  std::set<std::string> builtins;  // node built-ins that stay outside, without "node:"

  /// Whether a specifier stands for a file in CommonJS form.
  [[nodiscard]] bool has_commonjs_roots() const;
};

/// Fails when a package pulled in a file that is not below node_modules: a bundle must not carry this
/// machine's files.
Result<BundleInputs> read_metafile(std::string_view metafile, std::string_view work);
/// The names that names<i>.mjs exports, from the metafile of the second run.
Result<std::map<std::size_t, std::set<std::string>>> read_export_names(std::string_view metafile,
                                                                       std::string_view work);

/// What commonjs-names.mjs wrote: {"specifier": ["name", ...]}.
Result<std::map<std::string, std::set<std::string>>> read_commonjs_names(std::string_view found);

/// deps/bundle.mjs: the packages inside one function, with the built-ins that they ask for.
std::string bundle_module(std::string_view bundle, const std::set<std::string>& builtins);

/// The layer's files. `bundle` is esbuild's output, `names` what each specifier exports beside its default.
archive::ZipFiles make_layer_files(std::string_view bundle, std::string_view sourcemap,
                                   const std::set<std::string>& builtins,
                                   const std::map<std::string, std::set<std::string>>& names);

/// "node_modules/@a/b/lib/x.js" -> "@a/b"; of nested ones the innermost.
std::string package_of(std::string_view input);

}  // namespace relay::packages
