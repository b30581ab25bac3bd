# matio, which reads MATLAB's files, and the HDF5 that it was built with, as Ilux::Matio.
include(FindPackageHandleStandardArgs)
find_path(MATIO_INCLUDE_DIR matio.h)
find_library(MATIO_LIBRARY matio)
find_path(MATIO_HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(MATIO_HDF5_LIBRARY NAMES hdf5 PATH_SUFFIXES hdf5/serial)
find_package_handle_standard_args(IluxMatio
    REQUIRED_VARS MATIO_LIBRARY MATIO_INCLUDE_DIR MATIO_HDF5_LIBRARY MATIO_HDF5_INCLUDE_DIR)
if(IluxMatio_FOUND AND NOT TARGET Ilux::Matio)
    add_library(Ilux::Matio UNKNOWN IMPORTED)
    set_target_properties(Ilux::Matio PROPERTIES
        IMPORTED_LOCATION ${MATIO_LIBRARY} INTERFACE_LINK_LIBRARIES ${MATIO_HDF5_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES "${MATIO_INCLUDE_DIR};${MATIO_HDF5_INCLUDE_DIR}")
endif()
