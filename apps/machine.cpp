#include "ilux/apps/machine.hpp"

#include <dlfcn.h>

namespace ilux::app {

std::string blas_name()
{
    // Not a symbol of every BLAS, so it is looked up rather than linked.
    if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_get_config")) return reinterpret_cast<const char* (*)()>(symbol)();
    return "not OpenBLAS; results are the same, the dense last level may be slower";
}

std::string compiler_name()
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

}  // namespace ilux::app
