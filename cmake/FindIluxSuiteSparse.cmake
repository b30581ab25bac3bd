# AMD and COLAMD as Ilux::AMD and Ilux::COLAMD, whether or not SuiteSparse brought a CMake configuration of its own
# (Debian 12's 5.12 did not; 7.4 and later do, and their SuiteSparse:: names are left to them).
include(FindPackageHandleStandardArgs)
find_path(SuiteSparse_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse)
find_library(SuiteSparse_AMD_LIBRARY amd)
find_library(SuiteSparse_COLAMD_LIBRARY colamd)
find_library(SuiteSparse_CONFIG_LIBRARY suitesparseconfig)
find_package_handle_standard_args(IluxSuiteSparse
    REQUIRED_VARS SuiteSparse_AMD_LIBRARY SuiteSparse_COLAMD_LIBRARY SuiteSparse_CONFIG_LIBRARY SuiteSparse_INCLUDE_DIR)
foreach(part AMD COLAMD)
    if(IluxSuiteSparse_FOUND AND NOT TARGET Ilux::${part})
        add_library(Ilux::${part} UNKNOWN IMPORTED)
        set_target_properties(Ilux::${part} PROPERTIES
            IMPORTED_LOCATION ${SuiteSparse_${part}_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${SuiteSparse_INCLUDE_DIR}
            INTERFACE_LINK_LIBRARIES ${SuiteSparse_CONFIG_LIBRARY})
    endif()
endforeach()
