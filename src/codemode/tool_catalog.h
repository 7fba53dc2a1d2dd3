// ToolCatalog: what one server offers, as a plain value for readers: no connection behind it, safe to share
// between threads.
//
// It is made of an Offer, once per Offer, on the loop; programs ask it what there is (search, describe,
// tools), and files under /mcps and .relay/mcp are written from it (catalog_files.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "codemode/learned_types.h"
#include "codemode/ranking.h"
#include "upstream/offer.h"
#include "upstream/server_spec.h"

namespace relay::codemode {

struct ToolDoc {
  std::string name;   // as the server calls it
  std::string alias;  // as code may call it, unique within the server
  std::string title;
  std::string description;
  std::string input_schema;   // JSON text
  std::string output_schema;  // JSON text, or empty: the server does not say
  std::string input_hash;     // versions what was learned
};

struct ToolCatalog {
  std::string server;
  std::string alias;
  std::string description;   // what the configuration says of the server, else what it says of itself
  std::string instructions;  // the server's own advice
  std::vector<ToolDoc> tools;
  WordIndex words;  // numbered as tools
  std::map<std::string, std::size_t, std::less<>> by_name,
      by_spelling;  // exact names; and spellings that mean exactly one tool

  /// By its name, its alias, or any spelling that means exactly one tool.
  [[nodiscard]] const ToolDoc* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> tool_names() const;
};

std::shared_ptr<const ToolCatalog> make_handbook(const upstream::ServerSpec& spec, std::string alias,
                                                 const upstream::Offer& offer);

/// The output type to show: declared, learned, or unknown.
struct OutputDoc {
  std::string schema;            // JSON text; empty: unknown
  std::size_t learned_from = 0;  // results seen; 0: declared
};
OutputDoc output_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned);

}  // namespace relay::codemode
