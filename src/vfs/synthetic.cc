#include "vfs/synthetic.h"

#include <algorithm>
#include <map>

namespace relay::vfs {

std::string_view name_of(FileType type) {
  switch (type) {
    case FileType::file:
      return "file";
    case FileType::directory:
      return "dir";
    case FileType::link:
      return "link";
    case FileType::other:
      return "other";
  }
  return "other";
}

FileResult<> SyntheticDir::write(std::string_view path, std::string_view) {
  return fail(file_error(EROFS, path));
}

const FixedFiles::File* FixedFiles::find_file(std::string_view path) const {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const File& file) { return file.path == path; });
  return found == files_.end() ? nullptr : &*found;
}

FileResult<FileStat> FixedFiles::stat(std::string_view path) {
  if (const File* file = find_file(path)) return FileStat{FileType::file, file->content.size(), 0, 0444};
  RELAY_FILE_CHECK(list(path));
  return FileStat{FileType::directory, 0, 0, 0555};
}

FileResult<Listing> FixedFiles::list(std::string_view path) {
  if (find_file(path) != nullptr) return fail(file_error(ENOTDIR, path));
  const std::string prefix = path.empty() ? "" : std::string(path) + "/";
  std::map<std::string, DirEntry> entries;
  for (const File& file : files_) {
    if (!file.path.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(file.path).substr(prefix.size());
    const std::size_t slash = rest.find('/');
    const std::string name(rest.substr(0, slash));
    const bool is_file = slash == std::string_view::npos;
    entries[name] = {name, is_file ? FileType::file : FileType::directory, is_file ? file.content.size() : 0};
  }
  if (entries.empty() && !path.empty()) return fail(file_error(ENOENT, path));
  Listing listing;
  for (auto& [name, entry] : entries) listing.entries.push_back(std::move(entry));
  return listing;
}

FileResult<std::string> FixedFiles::read(std::string_view path) {
  if (const File* file = find_file(path)) return file->content;
  RELAY_FILE_CHECK(list(path));
  return fail(file_error(EISDIR, path));
}

}  // namespace relay::vfs
