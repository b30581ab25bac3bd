# AmgX's header, in AMGX_INCLUDE_DIR, and the path of libamgxsh.so, in AMGX_LIBRARY, from AMGX_ROOT (a variable of CMake or of the
# environment), a folder with include/ and lib/. A rival of `ilux-lab setup`, opened when it is measured and never linked.
include(FindPackageHandleStandardArgs)
find_path(AMGX_INCLUDE_DIR amgx_c.h HINTS ${AMGX_ROOT} $ENV{AMGX_ROOT} PATH_SUFFIXES include NO_CACHE)
find_library(AMGX_LIBRARY amgxsh HINTS ${AMGX_ROOT} $ENV{AMGX_ROOT} PATH_SUFFIXES lib lib64 NO_CACHE)
find_package_handle_standard_args(IluxAmgX REQUIRED_VARS AMGX_LIBRARY AMGX_INCLUDE_DIR)
if(AMGX_ROOT AND NOT IluxAmgX_FOUND)
    message(FATAL_ERROR "AMGX_ROOT=${AMGX_ROOT} holds no include/amgx_c.h, or no lib/libamgxsh.so")
endif()
