#include "packages/js_bundle.h"

#include <algorithm>
#include <array>

namespace relay::packages {
namespace {

constexpr std::array<std::string_view, 21> kBuiltins = {"assert",
                                                        "assert/strict",
                                                        "buffer",
                                                        "crypto",
                                                        "events",
                                                        "fs",
                                                        "fs/promises",
                                                        "os",
                                                        "path",
                                                        "path/posix",
                                                        "perf_hooks",
                                                        "process",
                                                        "querystring",
                                                        "readline",
                                                        "readline/promises",
                                                        "stream",
                                                        "string_decoder",
                                                        "timers",
                                                        "timers/promises",
                                                        "url",
                                                        "util"};

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_identifier_char(char c) {
  return is_identifier_start(c) || (c >= '0' && c <= '9');
}
bool is_identifier(std::string_view name) {
  return !name.empty() && is_identifier_start(name[0]) && std::ranges::all_of(name, is_identifier_char);
}

std::string module_file(std::string_view specifier) {
  std::string name(specifier);
  std::ranges::replace(name, '/', '+');
  return name + ".mjs";
}

std::string builtin_imports(const std::set<std::string>& builtins) {
  std::string text;
  std::string table;
  std::size_t next = 0;
  for (const std::string& name : builtins) {
    text += fmt::format("import * as n{} from \"node:{}\";\n", next, name);
    table += fmt::format("{}\"{}\": n{}", next == 0 ? "" : ", ", name, next);
    ++next;
  }
  return text + fmt::format("const builtins = {{{}}};\n", table);
}

// What stands before the bundle in its module.
std::string bundle_head(const std::set<std::string>& builtins) {
  std::string text = builtin_imports(builtins);
  text +=
      "const require = (name) => {\n"
      "  const found = builtins[String(name).replace(/^node:/, \"\")];\n"
      "  if (!found) throw Object.assign(new Error(\"Cannot find module '\" + name + \"'\"), { code: "
      "\"MODULE_NOT_FOUND\" });\n"
      "  return found.default ?? found;\n"
      "};\n"
      "const module = { exports: {} };\n"
      "(function (module, exports, require) {\n";
  return text;
}

// esbuild's map is about its own output, in a directory of its own: here it becomes one of the module, with
// paths from the installation. A line of mappings ends in a semicolon. The sources themselves are left out.
std::string module_sourcemap(std::string_view sourcemap, const std::set<std::string>& builtins) {
  auto map = json::parse_object(sourcemap, {.bytes = 64 * limits::kMiB});
  if (!map) return "";
  const std::string head = bundle_head(builtins);
  const std::string lines(static_cast<std::size_t>(std::ranges::count(head, '\n')), ';');
  json::array sources;
  if (const json::array* given = json::find_array(*map, "sources"))
    for (const json::value& source : *given) {
      std::string_view path = source.is_string() ? json::view(source.get_string()) : std::string_view();
      while (path.starts_with("../")) path.remove_prefix(3);
      sources.emplace_back(json::string(path));
    }
  return json::write(
      json::object{{"version", 3},
                   {"sources", std::move(sources)},
                   {"mappings", lines + std::string(json::find_string(*map, "mappings").value_or(""))}});
}

std::string package_module(std::string_view specifier, const std::set<std::string>& names) {
  std::string text =
      fmt::format("import load from \"/deps/bundle.mjs\";\nconst m = load({});\n", json::quote(specifier));
  text += "export default m && m.__esModule && m.default !== undefined ? m.default : m;\n";
  std::string taken;
  std::string given;
  std::size_t next = 0;
  for (const std::string& name : names) {
    if (name == "default" || name == "__esModule" || !is_identifier(name)) continue;
    taken += fmt::format("{}{}: v{}", next == 0 ? "" : ", ", name, next);
    given += fmt::format("{}v{} as {}", next == 0 ? "" : ", ", next, name);
    ++next;
  }
  if (next > 0) text += fmt::format("const {{{}}} = Object(m);\nexport {{{}}};\n", taken, given);
  return text;
}

Result<const json::object*> inputs_of(const json::object& metafile) {
  const json::object* inputs = json::find_object(metafile, "inputs");
  if (!inputs) return fail(internal("esbuild wrote a metafile without inputs"));
  return inputs;
}

void add_import(BundleInputs& read, const std::string& input, const std::string& entry,
                const json::object& import) {
  const std::string path(json::find_string(import, "path").value_or(""));
  const std::string original(json::find_string(import, "original").value_or(path));
  if (json::find_bool(import, "external").value_or(false)) {
    const std::string name = path.starts_with("node:") ? path.substr(5) : path;
    if (is_guest_builtin(name)) read.builtins.insert(name);
    return;
  }
  read.imports[input].push_back(path);
  if (input == entry) read.roots.emplace(original, path);
}

bool is_inside(std::string_view input, std::string_view entry) {
  return input == entry || input.starts_with("node_modules/") || input == "<runtime>" ||
         input.starts_with("(disabled):");
}

}  // namespace

std::string bundle_module(std::string_view bundle, const std::set<std::string>& builtins) {
  std::string text = bundle_head(builtins);
  text.append(bundle);
  text +=
      "\n})(module, module.exports, require);\n"
      "const load = (name) => {\n"
      "  const entry = Object.hasOwn(module.exports, name) ? module.exports[name] : undefined;\n"
      "  if (!entry) throw Object.assign(new Error(\"Cannot find module '\" + name + \"'\"), { code: "
      "\"MODULE_NOT_FOUND\" });\n"
      "  return entry();\n"
      "};\n"
      "globalThis[Symbol.for(\"relay.deps\")] = load;\n"
      "export default load;\n";
  return text;
}

bool is_guest_builtin(std::string_view name) {
  return std::ranges::find(kBuiltins, name) != kBuiltins.end();
}

std::string entry_path(std::string_view work) {
  return fmt::format("{}/entry.cjs", work);
}

std::string bundle_entry(const std::set<std::string>& specifiers) {
  std::string text = "module.exports = {\n";
  for (const std::string& specifier : specifiers)
    text += fmt::format("  {0}: () => require({0}),\n", json::quote(specifier));
  return text + "};\n";
}

std::string names_entry(std::string_view specifier) {
  return fmt::format("export * from {};\n", json::quote(specifier));
}

std::vector<std::string> bundle_args(std::string_view work, Sourcemaps sourcemaps) {
  std::vector<std::string> args = {entry_path(work),
                                   "--bundle",
                                   "--format=cjs",
                                   "--platform=browser",
                                   "--target=es2020",
                                   "--conditions=import,module",
                                   "--color=false",
                                   "--log-limit=0",
                                   "--log-level=warning",
                                   "--charset=utf8",
                                   "--legal-comments=none",
                                   "--define:process.env.NODE_ENV=\"production\"",
                                   "--define:global=globalThis",
                                   fmt::format("--metafile={}/meta.json", work),
                                   fmt::format("--outfile={}/bundle.cjs", work)};
  for (const std::string_view name : kBuiltins) {
    args.push_back(fmt::format("--external:{}", name));
    args.push_back(fmt::format("--external:node:{}", name));
  }
  args.emplace_back(sourcemaps == Sourcemaps::on ? "--sourcemap=external" : "--minify");
  return args;
}

std::vector<std::string> names_args(std::string_view work, std::size_t entries) {
  std::vector<std::string> args = bundle_args(work, Sourcemaps::off);
  std::erase_if(args, [](const std::string& arg) {
    return arg.ends_with("/entry.cjs") || arg.starts_with("--outfile") || arg.starts_with("--format") ||
           arg.starts_with("--metafile");
  });
  for (std::size_t i = 0; i < entries; ++i) args.push_back(fmt::format("{}/names{}.mjs", work, i));
  args.emplace_back("--format=esm");
  args.push_back(fmt::format("--metafile={}/names.json", work));
  args.push_back(fmt::format("--outdir={}/names", work));
  return args;
}

bool BundleInputs::has_commonjs_roots() const {
  return std::ranges::any_of(roots, [this](const auto& root) { return commonjs.contains(root.second); });
}

Result<BundleInputs> read_metafile(std::string_view metafile, std::string_view work) {
  const std::string entry = entry_path(work);
  RELAY_TRY(const json::object root, json::parse_object(metafile, {.bytes = 64 * limits::kMiB}));
  RELAY_TRY(const json::object* inputs, inputs_of(root));
  BundleInputs read;
  for (const auto& member : *inputs) {
    const std::string input(member.key());
    if (!is_inside(input, entry) || input.find("../") != std::string::npos)
      return fail(
          denied(fmt::format("a package includes {}, which is not part of any package", json::quote(input))));
    if (const std::string package = package_of(input); !package.empty()) read.packages.insert(package);
    const json::object& facts = member.value().as_object();
    if (json::find_string(facts, "format") != "esm") read.commonjs.insert(input);
    if (const json::array* imports = json::find_array(facts, "imports"))
      for (const json::value& import : *imports) add_import(read, input, entry, import.as_object());
  }
  return read;
}

Result<std::map<std::size_t, std::set<std::string>>> read_export_names(std::string_view metafile,
                                                                       std::string_view work) {
  const std::string prefix = fmt::format("{}/names", work);
  RELAY_TRY(const json::object root, json::parse_object(metafile, {.bytes = 64 * limits::kMiB}));
  const json::object* outputs = json::find_object(root, "outputs");
  if (!outputs) return fail(internal("esbuild wrote a metafile without outputs"));
  std::map<std::size_t, std::set<std::string>> names;
  for (const auto& member : *outputs) {
    const auto entry = json::find_string(member.value().as_object(), "entryPoint");
    const json::array* exports = json::find_array(member.value().as_object(), "exports");
    if (!entry || !exports || !entry->starts_with(prefix)) continue;
    const std::size_t index = std::stoul(std::string(entry->substr(prefix.size())));
    for (const json::value& name : *exports) names[index].emplace(json::view(name.as_string()));
  }
  return names;
}

Result<std::map<std::string, std::set<std::string>>> read_commonjs_names(std::string_view found) {
  RELAY_TRY(const json::object root, json::parse_object(found, {.bytes = 64 * limits::kMiB}));
  std::map<std::string, std::set<std::string>> names;
  for (const auto& member : root) {
    std::set<std::string>& of_this = names[std::string(member.key())];
    for (const json::value& name : member.value().as_array()) of_this.emplace(json::view(name.as_string()));
  }
  return names;
}

archive::ZipFiles make_layer_files(std::string_view bundle, std::string_view sourcemap,
                                   const std::set<std::string>& builtins,
                                   const std::map<std::string, std::set<std::string>>& names) {
  archive::ZipFiles files;
  json::object index;
  for (const auto& [specifier, exported] : names) {
    const std::string file = module_file(specifier);
    index[specifier] = "/deps/" + file;
    files.emplace("deps/" + file, package_module(specifier, exported));
  }
  files.emplace("deps/bundle.mjs", bundle_module(bundle, builtins));
  if (!sourcemap.empty()) files.emplace("deps/bundle.mjs.map", module_sourcemap(sourcemap, builtins));
  files.emplace("deps/index.json", json::write_canonical(json::value(std::move(index))));
  return files;
}

std::string package_of(std::string_view input) {
  constexpr std::string_view mark = "node_modules/";
  const std::size_t at = input.rfind(mark);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = input.substr(at + mark.size());
  std::size_t end = rest.find('/');
  if (rest.starts_with('@') && end != std::string_view::npos) end = rest.find('/', end + 1);
  return std::string(rest.substr(0, end));
}

}  // namespace relay::packages
