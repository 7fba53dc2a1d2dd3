// What kind of content a file holds, by its name: what clients need to show it.
#pragma once

#include <string>
#include <string_view>

namespace relay {

/// "image/png" for plot.png. Endings nobody knows are "text/plain" where the name has no ending that says
/// otherwise (Makefile, LICENSE, notes.org), because most such files are text; whoever holds the bytes can
/// ask media_type_of(path, bytes).
std::string media_type_of(std::string_view path);

/// The same, corrected by the content: what is not text is "application/octet-stream", unless the name says
/// what it is.
std::string media_type_of(std::string_view path, std::string_view content);

}  // namespace relay
