#include "vfs/guest_files.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace relay::vfs {
namespace {

constexpr std::size_t kEntries = 100'000;  // of one directory; as JSON they still fit a frame

FileError bad_argument(std::string_view name, std::string_view wanted) {
  return file_error(EINVAL, name, fmt::format("the argument must be {}", wanted));
}

FileResult<std::string> take_path(const json::object& args, std::string_view name) {
  const auto text = json::find_string(args, name);
  if (!text) return fail(bad_argument(name, "a string"));
  return std::string(*text);
}

FileResult<std::uint64_t> take_count(const json::object& args, std::string_view name,
                                     std::uint64_t otherwise) {
  const json::value* value = json::find(args, name);
  if (value == nullptr || value->is_null()) return otherwise;
  // JavaScript writes large whole numbers as doubles; up to 2^53 they are exact.
  if (value->is_double() && value->get_double() >= 0 && value->get_double() <= 9007199254740992.0 &&
      value->get_double() == static_cast<double>(static_cast<std::uint64_t>(value->get_double()))) {
    return static_cast<std::uint64_t>(value->get_double());
  }
  if (value->is_uint64()) return value->get_uint64();
  if (value->is_int64() && value->get_int64() >= 0) return static_cast<std::uint64_t>(value->get_int64());
  return fail(bad_argument(name, "a whole number that is not negative"));
}

bool flag(const json::object& args, std::string_view name, bool otherwise = false) {
  return json::find_bool(args, name).value_or(otherwise);
}

FileResult<WriteMode> take_mode(const json::object& args) {
  const std::string_view mode = json::find_string(args, "mode").value_or("create");
  if (mode == "create") return WriteMode::create;
  if (mode == "overwrite") return WriteMode::overwrite;
  if (mode == "append") return WriteMode::append;
  if (mode == "at") return WriteMode::at;
  return fail(bad_argument("mode", "create, overwrite, append or at"));
}

FileResult<GuestReply> reply(FileResult<> done) {
  if (!done) return fail(std::move(done).error());
  return GuestReply{};
}

FileResult<GuestReply> stat(Tree& tree, const json::object& args, std::string) {
  RELAY_FILE_TRY(const std::string path, take_path(args, "path"));
  RELAY_FILE_TRY(const FileStat found,
                 tree.stat(path, flag(args, "follow", true) ? LastLink::follow : LastLink::keep));
  GuestReply out;
  out.result = {
      {"type", name_of(found.type)}, {"size", found.size}, {"mtimeMs", found.mtime_ms}, {"mode", found.mode}};
  return out;
}

FileResult<GuestReply> list(Tree& tree, const json::object& args, std::string) {
  RELAY_FILE_TRY(const std::string path, take_path(args, "path"));
  RELAY_FILE_TRY(const DirectoryListing listing, tree.list(path, kEntries));
  // Half a directory would look like a whole one to a program.
  if (listing.truncated)
    return fail(file_error(EOVERFLOW, path, fmt::format("it has more than {} entries", kEntries)));
  json::array entries;
  for (const DirEntry& entry : listing.entries) {
    entries.push_back(
        json::object{{"name", entry.name}, {"type", name_of(entry.type)}, {"size", entry.size}});
  }
  GuestReply out;
  out.result = {{"entries", std::move(entries)}};
  return out;
}

FileResult<GuestReply> read(Tree& tree, const json::object& args, std::string) {
  RELAY_FILE_TRY(const std::string path, take_path(args, "path"));
  RELAY_FILE_TRY(const std::uint64_t offset, take_count(args, "offset", 0));
  RELAY_FILE_TRY(const std::uint64_t length, take_count(args, "length", limits::kFileReadBytes));
  // A frame to a child is bounded; what does not fit is not eof, and the guest asks again.
  constexpr std::size_t kLargest = limits::kFileReadBytes - limits::kMiB;
  RELAY_FILE_TRY(ReadChunk chunk, tree.read(path, offset, std::min<std::uint64_t>(length, kLargest)));
  GuestReply out;
  out.result = {{"size", chunk.size}, {"eof", chunk.eof}};
  out.body = std::move(chunk.bytes);
  return out;
}

FileResult<GuestReply> write(Tree& tree, const json::object& args, std::string body) {
  WriteRequest request;
  RELAY_FILE_TRY(request.path, take_path(args, "path"));
  RELAY_FILE_TRY(request.mode, take_mode(args));
  RELAY_FILE_TRY(request.offset, take_count(args, "offset", 0));
  request.existing = flag(args, "exclusive") ? Existing::refuse : Existing::keep;
  request.parents = flag(args, "parents") ? Parents::created : Parents::required;
  request.bytes = std::move(body);
  RELAY_FILE_TRY(const WriteReceipt receipt, tree.write(request));
  GuestReply out;
  out.result = {{"bytesWritten", receipt.bytes_written}, {"size", receipt.size}};
  return out;
}

FileResult<GuestReply> truncate(Tree& tree, const json::object& args, std::string) {
  RELAY_FILE_TRY(const std::string path, take_path(args, "path"));
  RELAY_FILE_TRY(const std::uint64_t size, take_count(args, "size", 0));
  return reply(tree.truncate(path, size));
}

FileResult<GuestReply> make_dir(Tree& tree, const json::object& args, std::string) {
  RELAY_FILE_TRY(const std::string path, take_path(args, "path"));
  return reply(tree.make_dir(path, flag(args, "recursive") ? Depth::recursive : Depth::one));
}

FileResult<GuestReply> remove(Tree& tree, const json::object& args, std::string) {
  RELAY_FILE_TRY(const std::string path, take_path(args, "path"));
  return reply(tree.remove(path, flag(args, "recursive") ? Depth::recursive : Depth::one));
}

FileResult<GuestReply> rename(Tree& tree, const json::object& args, std::string) {
  RELAY_FILE_TRY(const std::string from, take_path(args, "from"));
  RELAY_FILE_TRY(const std::string to, take_path(args, "to"));
  return reply(tree.rename(from, to));
}

struct Operation {
  std::string_view name;
  FileResult<GuestReply> (*perform)(Tree& tree, const json::object& args, std::string body);
};

constexpr std::array<Operation, 8> kOperations{{{"fs.read", read},
                                                {"fs.stat", stat},
                                                {"fs.list", list},
                                                {"fs.write", write},
                                                {"fs.truncate", truncate},
                                                {"fs.mkdir", make_dir},
                                                {"fs.remove", remove},
                                                {"fs.rename", rename}}};

const Operation* find_operation(std::string_view name) {
  const auto found =
      std::find_if(kOperations.begin(), kOperations.end(), [&](const auto& op) { return op.name == name; });
  return found == kOperations.end() ? nullptr : &*found;
}

}  // namespace

bool GuestFiles::handles(std::string_view op) {
  return find_operation(op) != nullptr;
}

FileResult<GuestReply> GuestFiles::perform(std::string_view op, const json::object& args,
                                           std::string body) const {
  const Operation* operation = find_operation(op);
  if (operation == nullptr) return fail(file_error(ENOSYS, op, "there is no such file call"));
  return operation->perform(*tree_, args, std::move(body));
}

json::object to_guest_error(const FileError& error) {
  return {{"type", error.face().type}, {"message", error.message}, {"errno", errno_name(error.number)}};
}

}  // namespace relay::vfs
