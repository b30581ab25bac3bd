#include "ilux/lab/rivals/rival_library.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace ilux::app {

RivalLibrary::RivalLibrary(const std::vector<std::string>& files)
{
    for (const std::string& file : files) {
        handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ == nullptr) {
            if (missing_.empty()) missing_ = file + " cannot be opened";
            continue;
        }
        file_ = file;
        missing_.clear();
        return;
    }
}

void* RivalLibrary::address(const std::string& name) const
{
    return handle_ == nullptr ? nullptr : dlsym(handle_, name.c_str());
}

std::string RivalLibrary::file_of(const std::string& name) const
{
    void* const where = address(name);
    Dl_info     found{};
    if (where == nullptr || dladdr(where, &found) == 0 || found.dli_fname == nullptr) return "";
    std::error_code             unknown;
    const std::filesystem::path real = std::filesystem::canonical(found.dli_fname, unknown);
    return unknown ? found.dli_fname : real.string();
}

void set_blas_threads(const RivalLibrary& library, int threads)
{
    void (*set)(int) = nullptr;
    library.find_if_there("openblas_set_num_threads", set);
    if (set != nullptr) set(threads);
}

std::string blas_of(const RivalLibrary& library)
{
    // Debian's libblas.so.3 hands on to libopenblas.so.0, which alone has this name.
    const std::string open = library.file_of("openblas_set_num_threads");
    return std::filesystem::path(open.empty() ? library.file_of("dgemm_") : open).filename().string();
}

}  // namespace ilux::app
