# METIS 5 as Ilux::METIS.
include(FindPackageHandleStandardArgs)
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
find_package_handle_standard_args(IluxMETIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR)
if(IluxMETIS_FOUND AND NOT TARGET Ilux::METIS)
    add_library(Ilux::METIS UNKNOWN IMPORTED)
    set_target_properties(Ilux::METIS PROPERTIES
        IMPORTED_LOCATION ${METIS_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
endif()
