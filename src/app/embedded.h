// Files of the tree that are compiled into the program (see relay_embed in cmake/folders.cmake).
#pragma once

#include <string_view>

namespace relay::app::embedded {

std::string_view home_page();

}  // namespace relay::app::embedded
