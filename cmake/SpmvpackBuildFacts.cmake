# SPMVPACK_GIT_DESCRIBE and SPMVPACK_CUDA_TOOLKIT, for `spmvpack --version`; empty where there is no answer.
set(SPMVPACK_GIT_DESCRIBE "")
find_package(Git QUIET)
if(Git_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --tags --always --dirty --abbrev=10
                  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE SPMVPACK_GIT_DESCRIBE
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(SPMVPACK_CUDA_TOOLKIT "")
if(SPMVPACK_WITH_CUDA)
  set(SPMVPACK_CUDA_TOOLKIT "${CUDAToolkit_VERSION}, for compute capability ${SPMVPACK_CUDA_TARGETS}")
endif()
