#include "ilux/direct/supernodal/blas.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>

#include "ilux/base/error.hpp"

namespace ilux::blas {
namespace {

using Complex = std::complex<double>;

/// A library of this process, and the functions of it that fronts use. Fortran's names, so any BLAS with indices of 32
/// bits serves.
struct Library {
    std::string why_not;
    void (*dgemm)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                  const int*, const double*, const int*, const double*, double*, const int*) = nullptr;
    void (*zgemm)(const char*, const char*, const int*, const int*, const int*, const Complex*, const Complex*,
                  const int*, const Complex*, const int*, const Complex*, Complex*, const int*) = nullptr;
    void (*dtrsm)(const char*, const char*, const char*, const char*, const int*, const int*, const double*,
                  const double*, const int*, double*, const int*) = nullptr;
    void (*ztrsm)(const char*, const char*, const char*, const char*, const int*, const int*, const Complex*,
                  const Complex*, const int*, Complex*, const int*) = nullptr;
    int (*threads)() = nullptr;  // its own setting
    void (*set_threads)(int) = nullptr;
};

template <class Function>
bool find(void* handle, const char* name, Function& function)
{
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
}

// OpenBLAS waits for ever where there is no memory for a thread's buffer, and reserves some for threads of its own.
constexpr std::size_t buffer = std::size_t{64} << 20;

bool has_room(std::size_t bytes)
{
    void* const probe = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) return false;
    munmap(probe, bytes);
    return true;
}

Library load()
{
    Library library;
    if (!has_room(buffer * (1 + std::thread::hardware_concurrency()))) {
        library.why_not = "there is no memory for a BLAS";
        return library;
    }
    for (const char* name : {"libopenblas.so.0", "libmkl_rt.so.2", "libmkl_rt.so.3", "libblis.so.4", "libblas.so.3"}) {
        void* const handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) continue;
        if (!find(handle, "dgemm_", library.dgemm) || !find(handle, "zgemm_", library.zgemm) ||
            !find(handle, "dtrsm_", library.dtrsm) || !find(handle, "ztrsm_", library.ztrsm))
            continue;
        for (const auto& [get, set] : {std::pair{"openblas_get_num_threads", "openblas_set_num_threads"},
                                       std::pair{"MKL_Get_Max_Threads", "MKL_Set_Num_Threads"},
                                       std::pair{"bli_thread_get_num_threads", "bli_thread_set_num_threads"}})
            if (find(handle, get, library.threads) && find(handle, set, library.set_threads)) break;
        return library;
    }
    library.why_not = "no BLAS was found (libopenblas.so.0, libmkl_rt.so, libblis.so.4 or libblas.so.3)";
    return library;
}

const Library& library()
{
    static const Library one = load();
    return one;
}

struct Shared {
    std::mutex mutex;
    int        users = 0, former = 1;
};
Shared& shared()
{
    static Shared one;
    return one;
}

}  // namespace

void multiply_subtract(Op op, Index m, Index n, Index k, const double* A, Index lda, const double* B, Index ldb,
                       double* C, Index ldc)
{
    if (m == 0 || n == 0 || k == 0) return;
    const char   a = static_cast<char>(op), b = 'N';
    const double minus_one = -1, one = 1;
    library().dgemm(&a, &b, &m, &n, &k, &minus_one, A, &lda, B, &ldb, &one, C, &ldc);
}

void multiply_subtract(Op op, Index m, Index n, Index k, const std::complex<double>* A, Index lda,
                       const std::complex<double>* B, Index ldb, std::complex<double>* C, Index ldc)
{
    if (m == 0 || n == 0 || k == 0) return;
    const char                 a = static_cast<char>(op), b = 'N';
    const std::complex<double> minus_one = -1, one = 1;
    library().zgemm(&a, &b, &m, &n, &k, &minus_one, A, &lda, B, &ldb, &one, C, &ldc);
}

void solve_triangle(Triangle triangle, Op op, Diagonal diagonal, Index m, Index n, const double* A, Index lda,
                    double* B, Index ldb)
{
    if (m == 0 || n == 0) return;
    const char side = 'L', t = static_cast<char>(triangle), o = static_cast<char>(op), d = static_cast<char>(diagonal);
    const double one = 1;
    library().dtrsm(&side, &t, &o, &d, &m, &n, &one, A, &lda, B, &ldb);
}

void solve_triangle(Triangle triangle, Op op, Diagonal diagonal, Index m, Index n, const std::complex<double>* A,
                    Index lda, std::complex<double>* B, Index ldb)
{
    if (m == 0 || n == 0) return;
    const char side = 'L', t = static_cast<char>(triangle), o = static_cast<char>(op), d = static_cast<char>(diagonal);
    const std::complex<double> one = 1;
    library().ztrsm(&side, &t, &o, &d, &m, &n, &one, A, &lda, B, &ldb);
}

std::string why_none() { return library().why_not; }

OneThread::OneThread(int callers)
{
    require(why_none().empty(), [] { return why_none(); });
    if (!has_room(buffer * callers)) throw OutOfMemory("there is no memory for the buffers of the BLAS");
    Shared&                           all = shared();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (all.users++ > 0 || library().set_threads == nullptr) return;
    all.former = library().threads();
    if (all.former != 1) library().set_threads(1);
}

OneThread::~OneThread()
{
    Shared&                           all = shared();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (--all.users > 0 || library().set_threads == nullptr) return;
    if (all.former != 1) library().set_threads(all.former);
}

}  // namespace ilux::blas
