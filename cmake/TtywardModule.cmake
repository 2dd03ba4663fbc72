# ttyward_module(NAME DEPS a b LINK x y): the folder's sources as one static
# library `ttyward_NAME`, and its *_test.cc files as `NAME_tests`.
#
# A source named main.cc is never part of a library: it is a composition root.
#
# UNITY: where TTYWARD_UNITY is on, eight sources at a time are compiled as one. Three quarters of the time of such a
# module go into templates of the standard library, which each of its files instantiates again. Names in the
# anonymous namespaces of the module must differ then, or a source is named in ALONE and compiled by itself. Verbs of
# the command line have a namespace each.

add_library(ttyward_options INTERFACE)
target_include_directories(ttyward_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(ttyward_options INTERFACE
  -pthread -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough -Werror)
if(TTYWARD_PCH)
  # GCC 12 forgets that a precompiled header came from the system, and warns of overlaps in std::string that cannot happen.
  target_compile_options(ttyward_options INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(TTYWARD_FAT_LTO)
  # A whole optimised compilation of each file: GCC 12 warns of overlaps in std::string that cannot happen.
  target_compile_options(ttyward_options INTERFACE -Wno-error)
endif()
target_compile_definitions(ttyward_options INTERFACE
  TTYWARD_VERSION="${PROJECT_VERSION}")
if(TTYWARD_SANITIZE)
  target_compile_options(ttyward_options INTERFACE
    -fsanitize=${TTYWARD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ttyward_options INTERFACE -fsanitize=${TTYWARD_SANITIZE})
endif()

if(TTYWARD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

include(PrecompiledHeaders)

function(ttyward_tests name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ttyward_options ${A_LINK} GTest::gtest_main GTest::gmock)
  ttyward_use_headers(${name} tests)
  target_compile_definitions(${name} PRIVATE TTYWARD_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(${name} TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${A_TIMEOUT})
endfunction()

function(ttyward_module name)
  cmake_parse_arguments(A "UNITY" "" "ALONE;DEPS;LINK;PRIVATE_LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|/main|_main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(ttyward_${name} STATIC ${sources})
  list(TRANSFORM A_DEPS PREPEND ttyward_ OUTPUT_VARIABLE deps)
  ttyward_use_headers(ttyward_${name} library)
  if(A_UNITY AND TTYWARD_UNITY)
    set_target_properties(ttyward_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${A_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # A class of one source that has a member of a local type is taken for one of a header.
    target_compile_options(ttyward_${name} PRIVATE -Wno-subobject-linkage)
  endif()
  target_link_libraries(ttyward_${name} PUBLIC ttyward_options ${deps} ${A_LINK} PRIVATE ${A_PRIVATE_LINK})
  if(TTYWARD_TESTS AND tests)
    ttyward_tests(${name}_tests SOURCES ${tests} LINK ttyward_${name})
  endif()
endfunction()
