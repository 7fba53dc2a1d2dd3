// ToolCatalogs: the servers that code may use, and what is known of each. Asks a server for its offer when
// nothing is known of it, which starts the server; makes a ToolCatalog of each Offer once. Loop thread only.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codemode/tool_catalog.h"
#include "pipeline/provider.h"
#include "upstream/fleet.h"

namespace relay::codemode {

/// One server that is enabled and exposed to code.
struct CodeServer {
  std::shared_ptr<upstream::Upstream> upstream;
  std::string alias;
  [[nodiscard]] const std::string& name() const { return upstream->spec().name; }
  [[nodiscard]] const std::string& description() const { return upstream->spec().description; }
};

class ToolCatalogs {
 public:
  using EntryPtr = std::shared_ptr<const pipeline::Provider::Entry>;

  ToolCatalogs(io::Loop executor, upstream::Fleet& fleet) : executor_(std::move(executor)), fleet_(fleet) {}

  /// In the order of the configuration, which decides the aliases.
  [[nodiscard]] std::vector<CodeServer> servers() const;

  /// What the server offered last, without asking it; null when that is unknown.
  std::shared_ptr<const ToolCatalog> find_known(const CodeServer& server);
  /// The same, asked for when it is unknown or old. What an earlier relay saw is good enough: reading starts
  /// no server.
  io::Task<std::shared_ptr<const ToolCatalog>> open(CodeServer server);
  /// From the server itself: for a tool that is not in what is known.
  io::Task<std::shared_ptr<const ToolCatalog>> ask(CodeServer server);
  /// Those of several servers, asked at once. A server that does not answer within the wait has null.
  io::Task<std::vector<std::shared_ptr<const ToolCatalog>>> open_all(std::vector<CodeServer> servers,
                                                                     std::chrono::milliseconds wait);

  /// A tool as the pipeline wants it. Kept as long as the offer is the same.
  EntryPtr find_entry(const CodeServer& server, const ToolDoc& tool);

 private:
  struct Shelf {
    std::shared_ptr<upstream::Upstream> upstream;
    std::shared_ptr<const upstream::Offer> offer;
    std::shared_ptr<const ToolCatalog> book;
    std::map<std::string, EntryPtr, std::less<>> entries;
  };
  Shelf& shelf_for(const CodeServer& server, std::shared_ptr<const upstream::Offer> offer);

  io::Loop executor_;
  upstream::Fleet& fleet_;
  std::map<std::string, Shelf, std::less<>> shelves_;  // by server name
};

}  // namespace relay::codemode
