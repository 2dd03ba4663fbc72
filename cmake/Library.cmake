# libttyward: the modules a program of somebody else's can use, in one archive with the
# headers that are public (packaging/library/public_headers.txt).
include(GNUInstallDirs)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(CMakePackageConfigHelpers)
find_package(Threads REQUIRED)

set(modules base io vt shell journal sandbox proxy pty place hold digest terminal command syntax policy config gate engine boost_json)
list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:ttyward_\\1>" OUTPUT_VARIABLE objects)
add_library(ttyward_library STATIC ${objects})
set_target_properties(ttyward_library PROPERTIES OUTPUT_NAME ttyward EXPORT_NAME ttyward LINKER_LANGUAGE CXX
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_compile_features(ttyward_library INTERFACE cxx_std_20)
target_link_libraries(ttyward_library INTERFACE fmt::fmt tl::expected Threads::Threads
  re2 uchardet utf8proc)

set(headers ${CMAKE_BINARY_DIR}/public_headers)
file(GLOB_RECURSE all_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.h)
add_custom_command(OUTPUT ${headers}.made
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/install_headers.py ${CMAKE_SOURCE_DIR}/src
    ${CMAKE_SOURCE_DIR}/packaging/library/public_headers.txt ${headers}
  COMMAND ${CMAKE_COMMAND} -E touch ${headers}.made
  DEPENDS ${all_headers} ${CMAKE_SOURCE_DIR}/tools/install_headers.py
    ${CMAKE_SOURCE_DIR}/packaging/library/public_headers.txt)
add_custom_target(library ALL DEPENDS ttyward_library ${headers}.made)  # all that component dev consists of

install(TARGETS ttyward_library EXPORT ttywardTargets COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${headers}/ttyward DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/ttyward)
install(EXPORT ttywardTargets NAMESPACE ttyward:: DESTINATION ${config} COMPONENT dev)
configure_package_config_file(${CMAKE_SOURCE_DIR}/packaging/library/ttywardConfig.cmake.in
  ${CMAKE_BINARY_DIR}/ttywardConfig.cmake INSTALL_DESTINATION ${config} PATH_VARS CMAKE_INSTALL_LIBEXECDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ttywardConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ttywardConfig.cmake ${CMAKE_BINARY_DIR}/ttywardConfigVersion.cmake
  DESTINATION ${config} COMPONENT dev)

# The way from the .pc file to the prefix, so that a tree can be moved.
file(RELATIVE_PATH TTYWARD_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" TTYWARD_PC_UP "${TTYWARD_PC_UP}")
configure_file(${CMAKE_SOURCE_DIR}/packaging/library/ttyward.pc.in ${CMAKE_BINARY_DIR}/ttyward.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/ttyward.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# The C interface (src/capi): a shared library with versioned symbols, and one header.
install(TARGETS ttyward_c COMPONENT dev LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_SOURCE_DIR}/src/capi/ttyward.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
add_dependencies(library ttyward_c)
