// Edits of relay.config.json on disk: one at a time, checked before anything is written, replaced as a whole.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "config/config.h"
#include "config/config_document.h"

namespace relay::config {

/// What an edit came to. `introduced` is not empty: the configuration would have these problems, and nothing
/// was written.
struct EditOutcome {
  std::filesystem::path file;
  bool is_new = false;  // the file was made, from the template of `relay init`
  std::vector<ConfigProblem> introduced;
  std::vector<ConfigProblem> remaining;  // were there before and still are
  /// Why a running Relay will ask the operator about this edit as about any other; empty: it takes it over.
  std::string unattested;
};

/// The file that -c names, or relay.config.json here. Its mode is kept; a link stays a link.
Result<EditOutcome> edit_config(const ConfigSources& sources,
                                const std::function<Result<void>(ConfigDocument&)>& edit);

std::filesystem::path config_file_of(const ConfigSources& sources);

/// The file of a command that names none: relay.config.json in `directory`, or in the nearest directory above
/// it, up to `home` or the root. A file above `directory` counts only when it belongs to this user or to
/// root: its servers are started with this user's rights. Empty: there is none.
std::filesystem::path find_config_file(const std::filesystem::path& directory,
                                       const std::filesystem::path& home);

}  // namespace relay::config
