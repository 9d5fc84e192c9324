# cmake --install: the program, the library with its headers and CMake package, profiles, schema, templates and completions.
# CPack makes a .tar.gz and a .deb of the same.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS posbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS core_archive core plugin EXPORT posbenchTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/posbench)
install(EXPORT posbenchTargets NAMESPACE posbench:: DESTINATION ${package})
configure_package_config_file(cmake/posbenchConfig.cmake.in ${PROJECT_BINARY_DIR}/posbenchConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/posbenchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/posbenchConfig.cmake ${PROJECT_BINARY_DIR}/posbenchConfigVersion.cmake
              cmake/posbench_add_plugin.cmake DESTINATION ${package})
foreach(header IN LISTS public_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/posbench/${folder})
endforeach()
install(FILES ${header_hash} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/posbench/harness/exchange)

set(share ${CMAKE_INSTALL_DATADIR}/posbench)
file(GLOB profiles CONFIGURE_DEPENDS harness/config/profiles/*.json)
install(FILES ${profiles} DESTINATION ${share}/profiles)
install(FILES results/reports/report.schema.json DESTINATION ${share})
install(DIRECTORY templates DESTINATION ${share})
install(PROGRAMS scripts/slurm.sh DESTINATION ${share})
install(FILES README.md LICENSE CITATION.cff CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)

# The program prints its completions.
set(written ${PROJECT_BINARY_DIR}/share)
file(MAKE_DIRECTORY ${written})
add_custom_command(OUTPUT ${written}/posbench.bash ${written}/_posbench ${written}/posbench.fish
                   COMMAND posbench completion bash > ${written}/posbench.bash
                   COMMAND posbench completion zsh > ${written}/_posbench
                   COMMAND posbench completion fish > ${written}/posbench.fish
                   DEPENDS posbench)
add_custom_target(shell_files ALL DEPENDS ${written}/posbench.fish)
install(FILES ${written}/posbench.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME posbench)
install(FILES ${written}/_posbench DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${written}/posbench.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME posbench)
set(CPACK_PACKAGE_CONTACT "The posbench maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "benchmark suite for position encodings of transformers")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME posbench-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libeigen3-dev, libfmt-dev, cmake, g++")  # to build plug-ins
include(CPack)
