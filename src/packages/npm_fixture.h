// What tests of the npm resolver share: esbuild as the build tree has it, and a node that evaluates a layer.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "io/test_folder.h"
#include "packages/loop_fixture.h"
#include "packages/npm_deps.h"

namespace relay::packages {

inline Environment environment_of_test() {
  Environment all;
  for (char** item = environ; *item; ++item) {
    const std::string_view entry(*item);
    all.emplace(entry.substr(0, entry.find('=')), entry.substr(entry.find('=') + 1));
  }
  return all;
}

/// The harness's folder with its node_modules, looked for from here upwards. Empty when there is none.
inline std::filesystem::path harness_of_test() {
  for (std::filesystem::path at = std::filesystem::current_path();; at = at.parent_path()) {
    if (std::filesystem::exists(at / "harness" / "node_modules")) return at / "harness";
    if (at == at.parent_path()) return {};
  }
}

inline std::string esbuild_of_test() {
  return find_esbuild(harness_of_test() / "node_modules", {});
}

/// The script of the harness in one file, as the build makes it: in its cage it sees nothing else.
inline std::filesystem::path make_names_finder(const std::filesystem::path& directory) {
  const auto file = directory / "finder" / "commonjs-names.mjs";
  const auto main = harness_of_test() / "src" / "hosts" / "names" / "main.mjs";
  const std::string command =
      fmt::format("'{}' '{}' --bundle --format=esm --platform=node --log-level=error --outfile='{}'",
                  esbuild_of_test(), main.string(), file.string());
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return file;
}

class NpmFixture : public LoopFixture {
 protected:
  void SetUp() override {
    if (harness_of_test().empty()) GTEST_SKIP() << "esbuild is not installed: run 'npm ci' in harness/";
  }

  /// Unpacks the layer and runs `code`, which may import any of its packages, with node. Gives what it
  /// prints.
  std::string evaluate(const capsule::DepsLayer& layer, const std::string& code) {
    const std::filesystem::path directory = scratch.path() / "evaluate";
    std::filesystem::remove_all(directory);
    const auto reader = archive::ZipReader::open(*layer.bytes);
    std::string imports = code;
    for (const auto& [name, bytes] : *reader->read_all()) {
      std::string text = bytes;
      if (const auto at = text.find("\"/deps/bundle.mjs\""); at != std::string::npos)
        text.replace(at, 18, "\"./bundle.mjs\"");
      std::filesystem::create_directories((directory / name).parent_path());
      std::ofstream(directory / name) << text;
    }
    std::ofstream(directory / "deps" / "main.mjs") << imports;
    const std::string modules = (directory / "deps").string();
    ToolRunner tools(tools_of_test(environment_of_test()), clock);
    const auto node = run(tools.ask(effects(), "node", {"-p", "process.execPath"}));
    if (!node) return node.error().message;
    ToolCall call{.program = *node, .args = {"main.mjs"}, .directory = modules};
    call.phase = "node";
    call.timeout = std::chrono::minutes(5);
    call.cage.read = {modules, *node};
    const auto outcome = run(tools.run(effects(), call, {}));
    if (!outcome) return outcome.error().message;
    return outcome->out + outcome->err;
  }

  io::TestFolder scratch;
  SystemClock clock;
};

}  // namespace relay::packages
