#include "ilux/sptrsv/gpu/cusparse_library.hpp"

#include <dlfcn.h>

#include <string>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

/// From where the loader looks, or from the toolkit that this was built with.
void* opened()
{
    const std::string name = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const std::string why = dlerror();
    if (void* library = dlopen((std::string(ILUX_CUDA_LIBRARIES "/") + name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
    throw DeviceError("engine cusparse: " + why);
}

template <class Function>
void find(void* library, const char* name, Function& function)
{
    void* const found = dlsym(library, name);
    if (!found) throw DeviceError(std::string("engine cusparse: the library has no ") + name);
    function = reinterpret_cast<Function>(found);
}

CusparseLibrary loaded()
{
    void* const     from = opened();
    CusparseLibrary all{};
#define ILUX_FIND(function) find(from, #function, all.function)
    ILUX_FIND(cusparseGetErrorString);
    ILUX_FIND(cusparseCreate);
    ILUX_FIND(cusparseDestroy);
    ILUX_FIND(cusparseSetStream);
    ILUX_FIND(cusparseCreateCsr);
    ILUX_FIND(cusparseDestroySpMat);
    ILUX_FIND(cusparseSpMatSetAttribute);
    ILUX_FIND(cusparseCreateDnVec);
    ILUX_FIND(cusparseDestroyDnVec);
    ILUX_FIND(cusparseDnVecSetValues);
    ILUX_FIND(cusparseSpSV_createDescr);
    ILUX_FIND(cusparseSpSV_destroyDescr);
    ILUX_FIND(cusparseSpSV_bufferSize);
    ILUX_FIND(cusparseSpSV_analysis);
    ILUX_FIND(cusparseSpSV_solve);
#undef ILUX_FIND
    return all;
}

}  // namespace

const CusparseLibrary& cusparse_library()
{
    static const CusparseLibrary library = loaded();
    return library;
}

}  // namespace ilux
