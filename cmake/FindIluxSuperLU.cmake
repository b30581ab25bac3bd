# The header of SuperLU, the sequential one, in SUPERLU_INCLUDE_DIR (Debian: libsuperlu-dev). A rival of `ilux-lab lu`, opened
# when it is measured and never linked.
include(FindPackageHandleStandardArgs)
find_path(SUPERLU_INCLUDE_DIR slu_zdefs.h PATH_SUFFIXES superlu)
find_package_handle_standard_args(IluxSuperLU REQUIRED_VARS SUPERLU_INCLUDE_DIR)
