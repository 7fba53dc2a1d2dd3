// The edit tool: replaces text in a file, exactly and as often as the caller expects, and shows what changed.
//
// Pure but for `edit_file`, which blocks and runs on a pool thread. For policy an edit is a write: rules
// about the tool write hold for it as well (write_of_edit).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "authority/call.h"
#include "base/json.h"
#include "protocol/tool.h"
#include "vfs/tree.h"

namespace relay::tools {

struct EditArguments {
  std::string path;
  std::string old_text;
  std::string new_text;
  std::size_t count = 1;  // how often old_text has to be there
};

EditArguments read_edit_arguments(const json::object& arguments);

/// A text with all occurrences replaced, and the places.
struct Edited {
  std::string text;
  std::vector<std::size_t> places;  // offsets in the text as it was
};

/// Fails when old_text does not occur exactly `count` times, or would stay as it is. Occurrences do not
/// overlap.
Result<Edited> replace_text(std::string_view text, const EditArguments& arguments);

/// The changed lines with three lines around them, as `diff -u` shows them, without the two lines of file
/// names.
std::string diff_of(std::string_view text, const EditArguments& arguments, const Edited& edited);

/// Replaces the file as a whole, so that no reader sees it half-edited.
Result<protocol::ToolResult> edit_file(vfs::Tree& tree, const EditArguments& arguments);

/// The same change as a call of the tool write, for rules that name that tool.
authority::Call write_of_edit(const authority::Call& edit);

std::string edit_policy_text(const json::object& arguments);
std::vector<authority::CallField> edit_fields(const json::object& arguments);

}  // namespace relay::tools
