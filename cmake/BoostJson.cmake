# Boost.JSON as a library of our own: Debian's Boost headers are enough for it.
if(NOT TARGET ttyward_boost_json)
  file(WRITE ${CMAKE_BINARY_DIR}/boost_json.cc.in "#include <boost/json/src.hpp>\n")
  configure_file(${CMAKE_BINARY_DIR}/boost_json.cc.in ${CMAKE_BINARY_DIR}/boost_json.cc COPYONLY)
  add_library(ttyward_boost_json STATIC ${CMAKE_BINARY_DIR}/boost_json.cc)
  target_compile_options(ttyward_boost_json PRIVATE -w)
  target_link_libraries(ttyward_boost_json PRIVATE ttyward_options)  # for the sanitizers
endif()
