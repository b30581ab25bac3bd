# UMFPACK's header, in UMFPACK_INCLUDE_DIR (Debian: libsuitesparse-dev). GPL: a rival of `ilux-lab lu`, opened when it is
# measured and never linked.
include(FindPackageHandleStandardArgs)
find_path(UMFPACK_INCLUDE_DIR umfpack.h PATH_SUFFIXES suitesparse)
find_package_handle_standard_args(IluxUMFPACK REQUIRED_VARS UMFPACK_INCLUDE_DIR)
