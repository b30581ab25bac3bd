#include "ilux/base/io/hdf5_library.hpp"

#include <dlfcn.h>

#include <string>

#include "ilux/base/error.hpp"

namespace ilux::detail {
namespace {

/// From where the loader looks, or from where it was when this was built.
void* opened()
{
    if (void* library = dlopen(ILUX_HDF5_NAME, RTLD_NOW | RTLD_LOCAL)) return library;
    const std::string why = dlerror();
    if (void* library = dlopen(ILUX_HDF5_FOLDER "/" ILUX_HDF5_NAME, RTLD_NOW | RTLD_LOCAL)) return library;
    throw InvalidInput("the library HDF5, which reads these, cannot be loaded: " + why);
}

template <class Found>
void find(void* library, const char* name, Found& function)
{
    void* const found = dlsym(library, name);
    require(found != nullptr, [&] { return std::string(ILUX_HDF5_NAME " has no ") + name; });
    function = reinterpret_cast<Found>(found);
}

Hdf5Library loaded()
{
    void* const from = opened();
    Hdf5Library all{};
#define ILUX_FIND(function) find(from, #function, all.function)
    ILUX_FIND(H5open);
    ILUX_FIND(H5Eget_auto2);
    ILUX_FIND(H5Eset_auto2);
    ILUX_FIND(H5Idec_ref);
    ILUX_FIND(H5Iget_type);
    ILUX_FIND(H5Pcreate);
    ILUX_FIND(H5Pset_fapl_core);
    ILUX_FIND(H5Pset_file_image);
    ILUX_FIND(H5Fopen);
    ILUX_FIND(H5Gget_info);
    ILUX_FIND(H5Lget_name_by_idx);
    ILUX_FIND(H5Lexists);
    ILUX_FIND(H5Oopen);
    ILUX_FIND(H5Aexists);
    ILUX_FIND(H5Aopen);
    ILUX_FIND(H5Aget_type);
    ILUX_FIND(H5Aread);
    ILUX_FIND(H5Dget_space);
    ILUX_FIND(H5Dget_type);
    ILUX_FIND(H5Dread);
    ILUX_FIND(H5Sget_simple_extent_dims);
    ILUX_FIND(H5Sget_simple_extent_ndims);
    ILUX_FIND(H5Tcreate);
    ILUX_FIND(H5Tinsert);
    ILUX_FIND(H5Tget_class);
    ILUX_FIND(H5Tget_size);
#undef ILUX_FIND
    hid_t *native_double = nullptr, *file_access = nullptr;
    find(from, "H5T_NATIVE_DOUBLE_g", native_double);
    find(from, "H5P_CLS_FILE_ACCESS_ID_g", file_access);
    require(all.H5open() >= 0, [] { return "the library HDF5 cannot be started"; });
    all.native_double = *native_double;
    all.file_access = *file_access;
    return all;
}

}  // namespace

const Hdf5Library& hdf5_library()
{
    static const Hdf5Library library = loaded();
    return library;
}

}  // namespace ilux::detail
