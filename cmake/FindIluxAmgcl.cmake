# AMGCL as Ilux::Amgcl, headers only, from AMGCL_ROOT, a clone of https://github.com/ddemidov/amgcl, or where headers are
# installed. A rival of `ilux-lab setup`, never linked into the library.
include(FindPackageHandleStandardArgs)
find_path(AMGCL_INCLUDE_DIR amgcl/amg.hpp HINTS ${AMGCL_ROOT} PATH_SUFFIXES include NO_CACHE)
find_package_handle_standard_args(IluxAmgcl REQUIRED_VARS AMGCL_INCLUDE_DIR)
if(AMGCL_ROOT AND NOT IluxAmgcl_FOUND)
    message(FATAL_ERROR "AMGCL_ROOT=${AMGCL_ROOT} holds no amgcl/amg.hpp")
endif()
if(IluxAmgcl_FOUND AND NOT TARGET Ilux::Amgcl)
    add_library(Ilux::Amgcl INTERFACE IMPORTED)
    set_target_properties(Ilux::Amgcl PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES ${AMGCL_INCLUDE_DIR}
        INTERFACE_COMPILE_DEFINITIONS AMGCL_NO_BOOST)  # options as property trees, of which we make no use
endif()
