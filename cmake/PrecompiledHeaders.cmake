# Two thirds of the time a file of ours takes to compile goes into reading the same headers. They are read once
# here and kept: once for libraries, once for test programs, which need GoogleTest too and are not made for sharing.
#
# ttyward_use_headers(TARGET library|tests): let a target use them. Its flags must be those of ttyward_options.
# Without TTYWARD_PCH every file reads what it includes itself: the build with clang checks that nothing is missing.
find_package(Threads REQUIRED)
set(ttyward_common_headers
  <algorithm> <array> <atomic> <cctype> <cerrno> <charconv> <chrono> <climits> <csignal> <cstddef> <cstdint> <cstdio>
  <cstdlib> <cstring> <ctime> <deque> <filesystem> <fstream> <functional> <iterator> <map> <memory> <mutex> <optional>
  <random> <set> <span> <string> <string_view> <system_error> <thread> <unordered_map> <utility> <variant> <vector>
  <fcntl.h> <poll.h> <sys/socket.h> <sys/stat.h> <sys/types.h> <sys/wait.h> <unistd.h>
  <boost/json.hpp> <fmt/format.h> <tl/expected.hpp>)

function(ttyward_keep_headers name)
  if(NOT TTYWARD_PCH)
    return()
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/${name}.cc.in "// Nothing: this target keeps precompiled headers for others.\n")
  configure_file(${CMAKE_BINARY_DIR}/${name}.cc.in ${CMAKE_BINARY_DIR}/${name}.cc COPYONLY)
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE ttyward_options fmt::fmt tl::expected)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

ttyward_keep_headers(ttyward_library_headers ${ttyward_common_headers})
if(TTYWARD_TESTS)
  ttyward_keep_headers(ttyward_tests_headers ${ttyward_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  if(TARGET ttyward_tests_headers)
    set_target_properties(ttyward_tests_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_link_libraries(ttyward_tests_headers PRIVATE GTest::gtest_main GTest::gmock)
  endif()
endif()

function(ttyward_use_headers target kind)
  if(NOT TTYWARD_PCH)
    return()
  endif()
  target_link_libraries(${target} PRIVATE fmt::fmt)  # its definitions are part of what was kept
  target_precompile_headers(${target} REUSE_FROM ttyward_${kind}_headers)
  if(kind STREQUAL tests)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
endfunction()
