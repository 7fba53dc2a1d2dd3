// GuestFiles: the file calls of a guest ("fs.read", "fs.write", ...) on its tree.
//
// A guest's own checks are for good error messages; these are the wall. Arguments come from code that we do
// not trust: each is checked, sizes are bounded, and whatever goes wrong becomes {"type", "message",
// "errno"}, which the guest's language turns into its own exception. The calls, arguments and results are
// those of the wire:
//
//   fs.stat {path, follow?}          -> {type, size, mtimeMs, mode}
//   fs.list {path}                   -> {entries: [{name, type, size}]}, all of them or EOVERFLOW
//   fs.read {path, offset?, length?} -> {size, eof} and the bytes
//   fs.write {path, mode, offset?, exclusive?, parents?} and bytes -> {bytesWritten, size}
//   fs.truncate {path, size}   fs.mkdir {path, recursive?}   fs.remove {path, recursive?}   fs.rename {from,
//   to}
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "vfs/tree.h"

namespace relay::vfs {

struct GuestReply {
  json::object result;
  std::string body;
};

class GuestFiles {
 public:
  explicit GuestFiles(std::shared_ptr<Tree> tree) : tree_(std::move(tree)) {}

  /// Is this call one of ours?
  static bool handles(std::string_view op);
  /// Blocks: runs on a pool thread. body is what followed the call's header.
  FileResult<GuestReply> perform(std::string_view op, const json::object& args, std::string body) const;

 private:
  std::shared_ptr<Tree> tree_;
};

/// {"type":"NotFound","message":"ENOENT: ...","errno":"ENOENT"}
json::object to_guest_error(const FileError& error);

}  // namespace relay::vfs
