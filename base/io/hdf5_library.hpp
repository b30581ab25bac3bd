#pragma once
// The functions of the library HDF5 that are used here, found when the first of them is wanted: programs that read no
// such file do not load it, nor what it needs. For base/io alone.

#include <hdf5.h>

namespace ilux::detail {

/// The functions by their own names, and what H5T_NATIVE_DOUBLE and H5P_FILE_ACCESS stand for.
struct Hdf5Library {
    decltype(&::H5open)                     H5open;
    decltype(&::H5Eget_auto2)               H5Eget_auto2;
    decltype(&::H5Eset_auto2)               H5Eset_auto2;
    decltype(&::H5Idec_ref)                 H5Idec_ref;
    decltype(&::H5Iget_type)                H5Iget_type;
    decltype(&::H5Pcreate)                  H5Pcreate;
    decltype(&::H5Pset_fapl_core)           H5Pset_fapl_core;
    decltype(&::H5Pset_file_image)          H5Pset_file_image;
    decltype(&::H5Fopen)                    H5Fopen;
    decltype(&::H5Gget_info)                H5Gget_info;
    decltype(&::H5Lget_name_by_idx)         H5Lget_name_by_idx;
    decltype(&::H5Lexists)                  H5Lexists;
    decltype(&::H5Oopen)                    H5Oopen;
    decltype(&::H5Aexists)                  H5Aexists;
    decltype(&::H5Aopen)                    H5Aopen;
    decltype(&::H5Aget_type)                H5Aget_type;
    decltype(&::H5Aread)                    H5Aread;
    decltype(&::H5Dget_space)               H5Dget_space;
    decltype(&::H5Dget_type)                H5Dget_type;
    decltype(&::H5Dread)                    H5Dread;
    decltype(&::H5Sget_simple_extent_dims)  H5Sget_simple_extent_dims;
    decltype(&::H5Sget_simple_extent_ndims) H5Sget_simple_extent_ndims;
    decltype(&::H5Tcreate)                  H5Tcreate;
    decltype(&::H5Tinsert)                  H5Tinsert;
    decltype(&::H5Tget_class)               H5Tget_class;
    decltype(&::H5Tget_size)                H5Tget_size;
    hid_t                                   native_double, file_access;
};

/// @throws InvalidInput where it cannot be loaded, with the loader's reason
const Hdf5Library& hdf5_library();

}  // namespace ilux::detail
