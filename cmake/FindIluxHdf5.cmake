# The headers of HDF5, the name by which its library is loaded at run time, and the folder where that is now.
include(FindPackageHandleStandardArgs)
find_path(HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5_LIBRARY NAMES hdf5 PATH_SUFFIXES hdf5/serial)
set(HDF5_NAME "")
if(HDF5_LIBRARY)
    file(REAL_PATH ${HDF5_LIBRARY} hdf5_file)  # libhdf5.so.103.0.0, whose name for the loader is libhdf5.so.103
    cmake_path(GET hdf5_file PARENT_PATH HDF5_FOLDER)
    if(hdf5_file MATCHES "([^/]*\\.so\\.[0-9]+)")
        set(HDF5_NAME ${CMAKE_MATCH_1})
    endif()
endif()
find_package_handle_standard_args(IluxHdf5 REQUIRED_VARS HDF5_NAME HDF5_LIBRARY HDF5_INCLUDE_DIR)
