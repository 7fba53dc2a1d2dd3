// LearnedTypes: the output types that were learned, per tool, kept in .relay/mcp/learned.json
// (docs/formats/learned_types.md).
//
// What was learned of a tool is dropped when its input schema changes: that is another tool under an old
// name. Safe from several threads; the file is read once at the start and written by whoever calls save(),
// which blocks.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::codemode {

class LearnedTypes {
 public:
  /// A file that is missing, damaged or of another version is as good as none.
  explicit LearnedTypes(std::filesystem::path file);

  struct ToolKey {
    std::string server;
    std::string tool;
    std::string schema_hash;  // of the input schema's text
  };
  struct Learned {
    json::value schema;
    std::size_t samples = 0;
  };

  /// True while another sample of this tool may teach something: ask before parsing a result.
  [[nodiscard]] bool wants(const ToolKey& key) const;
  /// Takes what a tool returned. True when something new was learned.
  bool learn(const ToolKey& key, const json::value& sample);
  [[nodiscard]] std::optional<Learned> find(const ToolKey& key) const;

  /// Writes the file if something changed since it was last written.
  Result<void> save();

 private:
  struct Entry {
    std::string schema_hash;
    Learned learned;
  };
  using Tools = std::map<std::string, Entry, std::less<>>;

  void load();
  [[nodiscard]] const Entry* find_entry(const ToolKey& key) const;
  [[nodiscard]] std::string write_locked() const;

  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::map<std::string, Tools, std::less<>> servers_;
  std::size_t count_ = 0;
  bool changed_ = false;
};

/// The hash that versions what was learned.
std::string schema_hash(std::string_view input_schema);

}  // namespace relay::codemode
