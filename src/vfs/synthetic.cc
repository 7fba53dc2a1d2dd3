#include "vfs/synthetic.h"

#include <algorithm>
#include <map>

#include "vfs/tree_path.h"

namespace relay::vfs {

std::string_view name_of(FileType type) {
  switch (type) {
    case FileType::file: return "file";
    case FileType::directory: return "dir";
    case FileType::link: return "link";
    case FileType::other: return "other";
  }
  return "other";
}

FileResult<> SyntheticDir::write(std::string_view path, std::string_view) {
  return fail(file_error(EROFS, path));
}

FileResult<ComputedFiles::Entry> ComputedFiles::find_entry(std::string_view path) const {
  if (path.empty()) return directory("");
  const SplitPath split = split_last(path);
  RELAY_FILE_TRY(std::vector<Entry> entries, provider_.list(split.directory));
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.name == split.name; });
  if (found == entries.end()) return fail(file_error(ENOENT, path));
  return std::move(*found);
}

FileResult<std::uint64_t> ComputedFiles::size_of(const Entry& entry, std::string_view path) const {
  if (entry.type != FileType::file) return 0;
  if (entry.size) return *entry.size;
  RELAY_FILE_TRY(const std::string content, provider_.read(path));
  return content.size();
}

FileResult<FileStat> ComputedFiles::stat(std::string_view path) {
  RELAY_FILE_TRY(const Entry entry, find_entry(path));
  RELAY_FILE_TRY(const std::uint64_t size, size_of(entry, path));
  return FileStat{entry.type, size, 0, entry.mode};
}

FileResult<DirectoryListing> ComputedFiles::list(std::string_view path) {
  RELAY_FILE_TRY(const Entry self, find_entry(path));
  if (self.type != FileType::directory) return fail(file_error(ENOTDIR, path));
  RELAY_FILE_TRY(std::vector<Entry> entries, provider_.list(path));
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  DirectoryListing listing;
  for (Entry& entry : entries) {
    // One file that cannot be computed must not hide the others: it is listed as empty.
    const std::uint64_t size = size_of(entry, join(path, entry.name)).value_or(0);
    listing.entries.push_back({std::move(entry.name), entry.type, size});
  }
  return listing;
}

FileResult<std::string> ComputedFiles::read(std::string_view path) {
  RELAY_FILE_TRY(const Entry entry, find_entry(path));
  if (entry.type == FileType::directory) return fail(file_error(EISDIR, path));
  if ((entry.mode & 0444) == 0) return fail(file_error(EACCES, path, "it only takes input"));
  return provider_.read(path);
}

FileResult<> ComputedFiles::write(std::string_view path, std::string_view bytes) {
  RELAY_FILE_TRY(const Entry entry, find_entry(path));
  if (entry.type == FileType::directory) return fail(file_error(EISDIR, path));
  if ((entry.mode & 0222) == 0 || !provider_.write) return fail(file_error(EROFS, path));
  return provider_.write(path, bytes);
}

const FixedFiles::File* FixedFiles::find_file(std::string_view path) const {
  const auto found =
      std::find_if(files_.begin(), files_.end(), [&](const File& file) { return file.path == path; });
  return found == files_.end() ? nullptr : &*found;
}

FileResult<FileStat> FixedFiles::stat(std::string_view path) {
  if (const File* file = find_file(path)) return FileStat{FileType::file, file->content.size(), 0, 0444};
  RELAY_FILE_CHECK(list(path));
  return FileStat{FileType::directory, 0, 0, 0555};
}

FileResult<DirectoryListing> FixedFiles::list(std::string_view path) {
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
  DirectoryListing listing;
  for (auto& [name, entry] : entries) listing.entries.push_back(std::move(entry));
  return listing;
}

FileResult<std::string> FixedFiles::read(std::string_view path) {
  if (const File* file = find_file(path)) return file->content;
  RELAY_FILE_CHECK(list(path));
  return fail(file_error(EISDIR, path));
}

}  // namespace relay::vfs
