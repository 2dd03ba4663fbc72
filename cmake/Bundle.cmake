# With TTYWARD_BUNDLE the libraries we use are put inside `ttyward`, where there are archives of them. A shared
# library costs a program 50 to 500 microseconds each time it starts, and `ttyward run` starts for every command.
# The C library stays shared: the names of users come from plug-ins of it.
if(NOT TTYWARD_BUNDLE)
  find_package(fmt REQUIRED)
  return()
endif()
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)  # what pkg_check_modules looks for, in this order
# Of fmt Debian has headers and a shared library; the archive is made from the headers.
add_library(ttyward_fmt STATIC ${CMAKE_SOURCE_DIR}/cmake/fmt_archive.cc)
target_compile_options(ttyward_fmt PRIVATE -w)
add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
target_link_libraries(fmt::fmt INTERFACE ttyward_fmt)
target_compile_definitions(fmt::fmt INTERFACE FMT_SHARED)  # as the real one: all else compiles alike either way
set(TTYWARD_BUNDLE_LINK -static-libstdc++ -static-libgcc)
# With TTYWARD_STATIC the C library is inside, too: one file for every Linux, whatever C library it has. Users and hosts are
# looked up in files and by DNS then, which this C library has built in; plug-ins of it (LDAP, mDNS) are not asked.
if(TTYWARD_STATIC)
  set(TTYWARD_BUNDLE_LINK -static-pie)
endif()
