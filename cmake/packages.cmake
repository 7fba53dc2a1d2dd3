# Every outside library, found once. Each is linked by the one or two folders that wrap it.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL 3 REQUIRED)
find_package(CURL REQUIRED)  # its headers: net/curl_library.h opens the library when it is needed
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
# Its -pthread would make every precompiled header unusable; Threads::Threads brings what linking needs.
set_property(TARGET PkgConfig::RE2 PROPERTY INTERFACE_COMPILE_OPTIONS "")
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
