#pragma once
// A shared library of others, opened when it is wanted.

#include <string>
#include <type_traits>
#include <vector>

namespace ilux::app {

/// Stays open once it is.
class RivalLibrary {
public:
    /// Opens the first of these that can be: names, which the loader looks for, or paths. missing() says why none
    /// could.
    explicit RivalLibrary(const std::vector<std::string>& files);

    const std::string& missing() const { return missing_; }  ///< "" where all is there that was asked for

    /// function ← the one of that name; where there is none it stays null, and missing() says so.
    template <class Function>
    void find(const std::string& name, Function& function)
    {
        find_if_there(name, function);
        if (function == nullptr && missing_.empty()) missing_ = file_ + " has no " + name;
    }
    template <class Function>
    void find_if_there(const std::string& name, Function& function) const
    {
        function = reinterpret_cast<Function>(address(name));
    }

    /// The file, links followed, that has this function or one of the libraries it brought along has; "" where none
    /// has.
    std::string file_of(const std::string& name) const;

private:
    void* address(const std::string& name) const;

    void*       handle_ = nullptr;
    std::string file_, missing_;
};

/// Gives OpenBLAS so many threads, where the library has brought that along. Other BLAS are left as they are.
void set_blas_threads(const RivalLibrary& library, int threads);
/// The file of its BLAS, without folders.
std::string blas_of(const RivalLibrary& library);

}  // namespace ilux::app
