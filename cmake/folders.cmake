# A folder under src/ is one static library, its unit tests one program, its fuzz targets one program each.
# Sources are found by name: foo.cc belongs to the library, foo_test.cc to the tests, foo_fuzz.cc is a target.

include(GoogleTest)

# relay_folder(NAME [PCH plain|asio] [LINK targets...]) makes relay_NAME, NAME_test and the fuzz programs.
function(relay_folder name)
  cmake_parse_arguments(arg "" "PCH" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")

  if(sources)
    add_library(relay_${name} STATIC ${sources})
    target_include_directories(relay_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(relay_${name} PUBLIC ${arg_LINK})
    relay_precompile(relay_${name} "${arg_PCH}")
  else()
    add_library(relay_${name} INTERFACE)
    target_include_directories(relay_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(relay_${name} INTERFACE ${arg_LINK})
  endif()

  if(tests AND NOT RELAY_FUZZ)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE relay_${name} GTest::gmock GTest::gtest_main)
    relay_precompile(${name}_test "${arg_PCH}")
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120 LABELS unit)
  endif()

  if(RELAY_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      target_link_libraries(${target} PRIVATE relay_${name})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

function(relay_precompile target kind)
  if(kind)
    target_precompile_headers(${target} REUSE_FROM relay_pch_${kind})
    target_link_libraries(${target} PRIVATE relay_pch_${kind}_options)
  endif()
endfunction()
