# How the module of a wheel is linked, so that it runs on older systems than this one: with static libraries, and without
# what those do not need; glibc's functions in the versions of 2.28. Included after find_package(spmvpack).
enable_language(C)
foreach(library archive zstd xxhash lzma z nettle)
  find_library(SPMVPACK_STATIC_${library} lib${library}.a REQUIRED)
endforeach()
find_library(SPMVPACK_BZ2 bz2 REQUIRED)  # there is a static one, but not for shared objects

set_target_properties(PkgConfig::spmvpack_zstd PROPERTIES INTERFACE_LINK_LIBRARIES ${SPMVPACK_STATIC_zstd})
set_target_properties(PkgConfig::spmvpack_xxhash PROPERTIES INTERFACE_LINK_LIBRARIES ${SPMVPACK_STATIC_xxhash})
set_target_properties(PkgConfig::spmvpack_lzma PROPERTIES INTERFACE_LINK_LIBRARIES ${SPMVPACK_STATIC_lzma})
set(libraries ${SPMVPACK_STATIC_archive} ${SPMVPACK_STATIC_nettle} ${SPMVPACK_STATIC_lzma} ${SPMVPACK_STATIC_z}
    ${SPMVPACK_STATIC_zstd} ${SPMVPACK_BZ2})
set_target_properties(PkgConfig::spmvpack_archive PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")

# fmt may be a shared library, which needs this machine's libstdc++: the module has its own (src/fmt.cpp), and that one is
# not needed.
function(spmvpack_make_portable target)
  target_sources(${target} PRIVATE src/fmt.cpp src/old_glibc.c)
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden)
  target_link_options(${target} PRIVATE -static-libstdc++ LINKER:--as-needed)
  find_program(SPMVPACK_PATCHELF patchelf REQUIRED)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/../tools/old_glibc.py 2.28 $<TARGET_FILE:${target}> VERBATIM)
endfunction()
