# What `cmake --install` installs. Component "runtime" is the command and shared libraries, "development" the rest.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(spmvpack_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spmvpack)

if(SPMVPACK_TOOLS)
  if(BUILD_SHARED_LIBS)  # found beside their user, wherever that is installed
    file(RELATIVE_PATH spmvpack_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(spmvpack PROPERTIES INSTALL_RPATH "$ORIGIN/${spmvpack_bin_to_lib}")
  endif()
  install(TARGETS spmvpack RUNTIME COMPONENT runtime)
  install(FILES docs/spmvpack.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
  install(FILES tools/completion/spmvpack.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME spmvpack COMPONENT runtime)
endif()
install(FILES README.md CHANGELOG.md docs/FORMAT.md docs/LAYOUTS.md docs/TIME_MODEL.md docs/GENERATORS.md
        docs/profile.schema.json docs/ranks.schema.json docs/report.schema.json
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT runtime)
if(SPMVPACK_WITH_PETSC)  # a plug-in: not for programs to link with
  install(TARGETS spmvpack_petsc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT petsc)
  install(FILES docs/PETSC.md adapters/petsc/examples/heat.c adapters/petsc/examples/poisson.py
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libspmvpack-petsc COMPONENT petsc)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libspmvpack-petsc RENAME copyright COMPONENT petsc)
endif()

if("encoder" IN_LIST spmvpack_rooms AND "host_loader" IN_LIST spmvpack_rooms)  # a header for programs of Trilinos
  install(DIRECTORY adapters/tpetra/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  install(FILES docs/OPERATORS.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
endif()

# An export of its own for each room, so that find_package() loads what is asked for and needs no other libraries.
foreach(room ${spmvpack_rooms})
  set_target_properties(spmvpack_${room} PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS spmvpack_${room} EXPORT spmvpack-${room}
          LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
          ARCHIVE COMPONENT development
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${room}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  install(EXPORT spmvpack-${room} NAMESPACE spmvpack:: FILE spmvpack-${room}.cmake
          DESTINATION ${spmvpack_cmake_dir} COMPONENT development)
endforeach()

# What a linker for C needs to be told besides: the library of C++, by its name for this compiler.
set(SPMVPACK_CXX_RUNTIME ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER SPMVPACK_CXX_RUNTIME INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|m)$")
list(REMOVE_DUPLICATES SPMVPACK_CXX_RUNTIME)
configure_package_config_file(cmake/spmvpack-config.cmake.in spmvpack-config.cmake
                              INSTALL_DESTINATION ${spmvpack_cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(spmvpack-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/spmvpack-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/spmvpack-config-version.cmake
              cmake/SpmvpackRooms.cmake
        DESTINATION ${spmvpack_cmake_dir} COMPONENT development)

# For pkg-config: the rooms of the host side, which need no CUDA, those above first. It finds the prefix from the place of
# the file, so that an installed tree can be moved.
# spmvpack-sources adds the readers of matrix files and the libraries that only those need; spmvpack-c is for programs in
# C, and has the GPU loader where that is built.
set(SPMVPACK_PC_LIBS "")
set(SPMVPACK_PC_C_LIBS "")
foreach(room ${spmvpack_rooms})
  if(room MATCHES "^(container|encoder|analyzer|host_loader)$")
    string(PREPEND SPMVPACK_PC_LIBS "-lspmvpack_${room} ")
  endif()
  if(NOT room MATCHES "^(sources|analyzer)$")
    string(PREPEND SPMVPACK_PC_C_LIBS "-lspmvpack_${room} ")
  endif()
endforeach()
if(NOT BUILD_SHARED_LIBS)
  if(SPMVPACK_WITH_CUDA)
    string(APPEND SPMVPACK_PC_C_LIBS "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread ")
  endif()
  list(TRANSFORM SPMVPACK_CXX_RUNTIME PREPEND -l OUTPUT_VARIABLE runtime)
  list(JOIN runtime " " runtime)
  string(APPEND SPMVPACK_PC_C_LIBS "${runtime} ")
endif()
file(RELATIVE_PATH SPMVPACK_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" SPMVPACK_PC_TO_PREFIX "${SPMVPACK_PC_TO_PREFIX}")
set(SPMVPACK_PC_REQUIRES "fmt, libzstd, libxxhash")
set(SPMVPACK_PC_PRIVATE ".private")
set(SPMVPACK_PC_SOURCES_REQUIRES "\nRequires.private: libisal, libarchive, liblzma")
if(NOT BUILD_SHARED_LIBS)  # a static library is linked with everything that it uses
  set(SPMVPACK_PC_PRIVATE "")
  set(SPMVPACK_PC_SOURCES_REQUIRES ", libisal, libarchive, liblzma")
endif()
set(spmvpack_pc_files spmvpack)
if(c IN_LIST spmvpack_rooms)
  list(APPEND spmvpack_pc_files spmvpack-c)
endif()
if(sources IN_LIST spmvpack_rooms)
  list(APPEND spmvpack_pc_files spmvpack-sources)
endif()
foreach(file ${spmvpack_pc_files})
  configure_file(cmake/${file}.pc.in ${file}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endforeach()
