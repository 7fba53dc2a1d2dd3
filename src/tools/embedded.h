// The definitions of Relay's own tools, compiled into the program from src/tools/schemas (see relay_embed in
// cmake/folders.cmake).
#pragma once

#include <string_view>

namespace relay::tools::embedded {

std::string_view run_js();
std::string_view run_py();
std::string_view read();
std::string_view write();
std::string_view edit();
std::string_view search();
std::string_view server_info();
std::string_view audit_tail();
std::string_view operation_confirm();

}  // namespace relay::tools::embedded
