# hypre for CUDA, without MPI: its headers, in HYPRE_INCLUDE_DIR, and the path of libHYPRE.so, in HYPRE_LIBRARY, from HYPRE_ROOT (a
# variable of CMake or of the environment), a folder with include/ and lib/. A rival of `ilux-lab setup`, opened when it is measured
# and never linked. Debian's hypre, which has MPI and no CUDA, does not serve.
include(FindPackageHandleStandardArgs)
find_path(HYPRE_INCLUDE_DIR HYPRE_config.h PATHS ${HYPRE_ROOT} $ENV{HYPRE_ROOT} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
find_library(HYPRE_LIBRARY HYPRE PATHS ${HYPRE_ROOT} $ENV{HYPRE_ROOT} PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH NO_CACHE)
set(HYPRE_SERVES "")
if(HYPRE_INCLUDE_DIR)
    file(STRINGS ${HYPRE_INCLUDE_DIR}/HYPRE_config.h hypre_cuda REGEX "^#define HYPRE_USING_CUDA")
    file(STRINGS ${HYPRE_INCLUDE_DIR}/HYPRE_config.h hypre_sequential REGEX "^#define HYPRE_SEQUENTIAL")
    file(STRINGS ${HYPRE_INCLUDE_DIR}/HYPRE_config.h hypre_other REGEX "^#define HYPRE_(BIGINT|MIXEDINT|SINGLE|LONG_DOUBLE|COMPLEX)")
    if(hypre_cuda AND hypre_sequential AND NOT hypre_other)
        set(HYPRE_SERVES YES)
    endif()
endif()
find_package_handle_standard_args(IluxHypre REQUIRED_VARS HYPRE_LIBRARY HYPRE_INCLUDE_DIR HYPRE_SERVES)
if(HYPRE_ROOT AND NOT IluxHypre_FOUND)
    message(FATAL_ERROR "HYPRE_ROOT=${HYPRE_ROOT} holds no include/HYPRE_config.h of a build with CUDA, without MPI, of double numbers and int, or no lib/libHYPRE.so")
endif()
