# Debian packages: `cpack` in the build folder makes ttyward and libttyward-dev.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The ttyward maintainers <maintainers@ttyward.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "terminal for AI agents")  # Debian wants no article
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# Folders are 0755 whatever the umask of whoever packs.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_TTYWARD_PACKAGE_NAME ttyward)
set(CPACK_DEBIAN_TTYWARD_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TTYWARD_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TTYWARD_DESCRIPTION "Runs commands in real terminals and tells how they ended: exit codes, time
limits, what they wait for. Terminals outlive the daemon that watches them.
What an agent wants to run is judged first, and asked about where it matters.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libttyward-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "ttyward (= ${PROJECT_VERSION}), libfmt-dev, libexpected-dev, libboost1.81-dev, \
libre2-dev, libuchardet-dev, libutf8proc-dev")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Headers and static library of ttyward: run commands in terminals, turn their
bytes into screens and text, and judge command lines, in a program of your own.")

set(packages ttyward libttyward-dev)
if(TARGET ttyward-fleet)
  list(APPEND packages ttyward-fleet)
  set(CPACK_DEBIAN_TTYWARD-FLEET_PACKAGE_NAME ttyward-fleet)
  set(CPACK_DEBIAN_TTYWARD-FLEET_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_TTYWARD-FLEET_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_TTYWARD-FLEET_PACKAGE_DEPENDS "ttyward (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_TTYWARD-FLEET_PACKAGE_SUGGESTS "nats-server")
  set(CPACK_DEBIAN_TTYWARD-FLEET_DESCRIPTION "Runs commands on many hosts with ttyward fleet: a queue, leases and one inbox
for questions on NATS JetStream; results and output stay on the hosts.")
endif()

# What only a Debian package has: no part of a plain `cmake --install`.
set(debian ${CMAKE_BINARY_DIR}/debian)
string(TIMESTAMP day "%a, %d %b %Y 00:00:00 +0000" UTC)  # SOURCE_DATE_EPOCH, if that is set
configure_file(${CMAKE_SOURCE_DIR}/packaging/debian/changelog.in ${debian}/changelog @ONLY)
execute_process(COMMAND gzip -9nc ${debian}/changelog OUTPUT_FILE ${debian}/changelog.gz)
foreach(package ${packages})
  install(FILES ${debian}/changelog.gz ${CMAKE_SOURCE_DIR}/packaging/debian/copyright
    DESTINATION share/doc/${package} COMPONENT debian_${package} EXCLUDE_FROM_ALL)
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/packaging/debian/ttyward.lintian-overrides
  DESTINATION share/lintian/overrides RENAME ttyward COMPONENT debian_ttyward EXCLUDE_FROM_ALL)
set(CPACK_COMPONENTS_ALL program dev debian_ttyward debian_libttyward-dev)
set(CPACK_COMPONENT_PROGRAM_GROUP ttyward)
set(CPACK_COMPONENT_DEBIAN_TTYWARD_GROUP ttyward)
set(CPACK_COMPONENT_DEV_GROUP library)
set(CPACK_COMPONENT_DEBIAN_LIBTTYWARD-DEV_GROUP library)
if(TARGET ttyward-fleet)
  list(APPEND CPACK_COMPONENTS_ALL fleet debian_ttyward-fleet)
  set(CPACK_COMPONENT_FLEET_GROUP ttyward-fleet)
  set(CPACK_COMPONENT_DEBIAN_TTYWARD-FLEET_GROUP ttyward-fleet)
endif()
include(CPack)
