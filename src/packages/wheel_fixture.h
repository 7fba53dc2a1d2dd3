// Wheels made by a test, and a small package index on loopback that serves them: a simple index (PEP 503) as
// files, with python3's own file server in front.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/digest.h"
#include "io/child.h"
#include "io/test_folder.h"
#include "packages/loop_fixture.h"
#include "packages/py_deps.h"

namespace relay::packages {

/// A wheel with one module and metadata that may require others.
inline std::string make_wheel(const std::string& project, const std::string& version, const std::string& code,
                              const std::vector<std::string>& needs = {}) {
  const std::string info = fmt::format("{}-{}.dist-info", project, version);
  std::string metadata = fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", project, version);
  for (const std::string& need : needs) metadata += fmt::format("Requires-Dist: {}\n", need);
  return *archive::write_zip(
      {{project + "/__init__.py", code},
       {info + "/METADATA", metadata},
       {info + "/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
       {info + "/RECORD", ""}},
      archive::ZipMethod::deflate);
}

class IndexFixture : public LoopFixture {
 protected:
  void SetUp() override {
    io::ChildSpec spec{.program = "python3",
                       .args = {"-u", "-m", "http.server", "--bind", "127.0.0.1", "0"},
                       .environment = {{"PATH", std::getenv("PATH")}, {"HOME", "/nonexistent"}},
                       .directory = scratch.path().string(),
                       .in = io::Stdio::null,
                       .err = io::Stdio::null};
    auto started = io::Child::spawn(loop.get_executor(), spec);
    if (!started) GTEST_SKIP() << "python3 is not installed";
    server.emplace(std::move(*started));
    io::LineReader lines(server->out());
    const auto line = run(lines.read_line());  // "Serving HTTP on 127.0.0.1 port 40001 (http://...) ..."
    ASSERT_TRUE(line && *line) << "the file server did not start";
    const std::size_t at = (*line)->find(" port ") + 6;
    port = (*line)->substr(at, (*line)->find(' ', at) - at);
  }
  void TearDown() override {
    if (server) (void)run(server->stop());
  }

  void publish(const std::string& project, const std::string& file, const std::string& bytes) {
    const std::filesystem::path page = scratch.path() / "simple" / project / "index.html";
    std::filesystem::create_directories(page.parent_path());
    std::ofstream(page.parent_path() / file) << bytes;
    std::ofstream(page, std::ios::app)
        << fmt::format("<a href=\"{0}#sha256={1}\">{0}</a>\n", file, sha256_hex(bytes));
  }
  std::string address(const std::string& path) { return fmt::format("http://127.0.0.1:{}/{}", port, path); }

  io::TestFolder scratch;
  std::optional<io::Child> server;
  std::string port;
  SystemClock clock;
};

}  // namespace relay::packages
