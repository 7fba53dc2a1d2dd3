// Files of the tree that are compiled into the program (see relay_embed in cmake/folders.cmake).
#pragma once

#include <string_view>

namespace relay::config::embedded {

std::string_view config_schema();
std::string_view config_template();

}  // namespace relay::config::embedded
