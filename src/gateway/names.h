// Names: what an upstream's tools and prompts are called in our lists. Pure, and a function of one server's
// own offer: adding another server changes nobody's name.
//
//   files + read_file        -> files__read_file
//   files + "read file"      -> files__read_file         characters that model APIs refuse become _
//   files + both of them     -> files__read_file, files__read_file_3fa9c1    whoever had to be changed gives
//   way files + a very long name -> cut, with a hash of the whole, at 64 bytes
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::gateway {

/// The exposed names in the order of the originals; all different from each other.
std::vector<std::string> expose_names(std::string_view server, const std::vector<std::string>& originals);

}  // namespace relay::gateway
