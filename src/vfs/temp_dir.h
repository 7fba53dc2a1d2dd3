// TempDir: a test's folder, and what tests of files do in it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "io/test_folder.h"

namespace relay::vfs {

class TempDir {
 public:
  [[nodiscard]] std::string path(std::string_view name = "") const {
    return name.empty() ? folder_.path().string() : (folder_ / name).string();
  }
  void write(std::string_view name, std::string_view content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
  }
  void make_dir(std::string_view name) const { std::filesystem::create_directories(path(name)); }
  void link(std::string_view target, std::string_view name) const {
    std::filesystem::create_symlink(target, path(name));
  }
  [[nodiscard]] std::string read(std::string_view name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] bool exists(std::string_view name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(path(name)));
  }

 private:
  io::TestFolder folder_;
};

}  // namespace relay::vfs
