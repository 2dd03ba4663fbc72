# What `cmake --install` puts where: component `program` here, component `dev` in Library.cmake.
include(GNUInstallDirs)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

install(TARGETS ttyward RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
# Nobody calls it by hand; ttyward looks for it here (src/cli/hold_program.cc).
install(TARGETS ttyward-hold RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ttyward COMPONENT program)

# Needs libnats, so it is a component, and a package, of its own.
if(TARGET ttyward-fleet)
  install(TARGETS ttyward-fleet RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ttyward COMPONENT fleet)
endif()

# Text made by the program, and by others, while building.
set(made ${CMAKE_BINARY_DIR}/made)
file(MAKE_DIRECTORY ${made})
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${made}/completion.${shell}
    COMMAND ttyward completion ${shell} > ${made}/completion.${shell} DEPENDS ttyward VERBATIM)
endforeach()
# ttyward(1), and a page for each verb.
add_custom_command(OUTPUT ${made}/man/ttyward.1.gz
  COMMAND ${CMAKE_SOURCE_DIR}/tools/make_manuals.sh $<TARGET_FILE:ttyward> ${made}/man
  DEPENDS ttyward ${CMAKE_SOURCE_DIR}/tools/make_manuals.sh VERBATIM)
add_custom_command(OUTPUT ${made}/ttyward.spdx.json
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/make_sbom.py spdx ${PROJECT_VERSION} $<$<BOOL:${TTYWARD_BUNDLE}>:bundled> > ${made}/ttyward.spdx.json
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/make_sbom.py ${CMAKE_SOURCE_DIR}/packaging/dependencies.toml COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(made_text ALL DEPENDS ${made}/completion.bash ${made}/completion.zsh ${made}/completion.fish
  ${made}/man/ttyward.1.gz ${made}/ttyward.spdx.json)

set(share ${CMAKE_INSTALL_DATADIR})
install(FILES ${made}/completion.bash DESTINATION ${share}/bash-completion/completions RENAME ttyward COMPONENT program)
install(FILES ${made}/completion.zsh DESTINATION ${share}/zsh/vendor-completions RENAME _ttyward COMPONENT program)
install(FILES ${made}/completion.fish DESTINATION ${share}/fish/vendor_completions.d RENAME ttyward.fish COMPONENT program)
install(DIRECTORY ${made}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program FILES_MATCHING PATTERN "*.1.gz")
install(FILES ${made}/ttyward.spdx.json DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/ttyward COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/docs/licences.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# The unit names the program by its full path, which is known only when it is installed.
install(FILES ${CMAKE_SOURCE_DIR}/packaging/systemd/ttyward.socket DESTINATION lib/systemd/user COMPONENT program)
install(CODE "
  file(READ \"${CMAKE_SOURCE_DIR}/packaging/systemd/ttyward.service\" unit)
  string(REPLACE /usr/bin/ttyward \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/ttyward\" unit \"\${unit}\")
  file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/user/ttyward.service\" \"\${unit}\")
" COMPONENT program)
