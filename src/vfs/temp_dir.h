// TempDir: a directory for one test, deleted with everything in it at the end. Only tests include this.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace relay::vfs {

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "relay-vfs-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string path(std::string_view name = "") const { return name.empty() ? path_ : path_ + "/" + std::string(name); }
  void write(std::string_view name, std::string_view content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
  }
  void make_dir(std::string_view name) const { std::filesystem::create_directories(path(name)); }
  void link(std::string_view target, std::string_view name) const { std::filesystem::create_symlink(target, path(name)); }
  [[nodiscard]] std::string read(std::string_view name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] bool exists(std::string_view name) const { return std::filesystem::exists(std::filesystem::symlink_status(path(name))); }

 private:
  std::string path_;
};

}  // namespace relay::vfs
