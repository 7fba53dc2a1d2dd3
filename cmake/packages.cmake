# Every outside library, found once. Each is linked by the one or two folders that wrap it.

find_package(Threads REQUIRED)
# Static where Debian has it: every shared library is five more mappings that a zygote copies for each run.
set(Boost_USE_STATIC_LIBS ON)
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
find_library(SECCOMP_LIBRARY libseccomp.a REQUIRED)
find_library(SODIUM_LIBRARY libsodium.a REQUIRED)
