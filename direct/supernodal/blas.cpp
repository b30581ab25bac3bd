#include "ilux/direct/supernodal/blas.hpp"

#include <dlfcn.h>

#include <mutex>

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void zgemm_(const char*, const char*, const int*, const int*, const int*, const std::complex<double>*,
            const std::complex<double>*, const int*, const std::complex<double>*, const int*,
            const std::complex<double>*, std::complex<double>*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void ztrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const std::complex<double>*,
            const std::complex<double>*, const int*, std::complex<double>*, const int*);
}

namespace ilux::blas {
namespace {

/// Two functions of a library's own, of those that this process has.
struct ThreadCalls {
    int (*get)() = nullptr;
    void (*set)(int) = nullptr;
};

ThreadCalls find_thread_calls()
{
    constexpr const char* names[][2] = {{"openblas_get_num_threads", "openblas_set_num_threads"},
                                        {"MKL_Get_Max_Threads", "MKL_Set_Num_Threads"},
                                        {"bli_thread_get_num_threads", "bli_thread_set_num_threads"}};
    for (const auto& [get, set] : names) {
        void* const getter = dlsym(RTLD_DEFAULT, get);
        void* const setter = dlsym(RTLD_DEFAULT, set);
        if (getter != nullptr && setter != nullptr)
            return {reinterpret_cast<int (*)()>(getter), reinterpret_cast<void (*)(int)>(setter)};
    }
    return {};
}

struct Shared {
    std::mutex  mutex;
    ThreadCalls calls = find_thread_calls();
    int         users = 0, former = 1;
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
    dgemm_(&a, &b, &m, &n, &k, &minus_one, A, &lda, B, &ldb, &one, C, &ldc);
}

void multiply_subtract(Op op, Index m, Index n, Index k, const std::complex<double>* A, Index lda,
                       const std::complex<double>* B, Index ldb, std::complex<double>* C, Index ldc)
{
    if (m == 0 || n == 0 || k == 0) return;
    const char                 a = static_cast<char>(op), b = 'N';
    const std::complex<double> minus_one = -1, one = 1;
    zgemm_(&a, &b, &m, &n, &k, &minus_one, A, &lda, B, &ldb, &one, C, &ldc);
}

void solve_triangle(Triangle triangle, Op op, Diagonal diagonal, Index m, Index n, const double* A, Index lda,
                    double* B, Index ldb)
{
    if (m == 0 || n == 0) return;
    const char side = 'L', t = static_cast<char>(triangle), o = static_cast<char>(op), d = static_cast<char>(diagonal);
    const double one = 1;
    dtrsm_(&side, &t, &o, &d, &m, &n, &one, A, &lda, B, &ldb);
}

void solve_triangle(Triangle triangle, Op op, Diagonal diagonal, Index m, Index n, const std::complex<double>* A,
                    Index lda, std::complex<double>* B, Index ldb)
{
    if (m == 0 || n == 0) return;
    const char side = 'L', t = static_cast<char>(triangle), o = static_cast<char>(op), d = static_cast<char>(diagonal);
    const std::complex<double> one = 1;
    ztrsm_(&side, &t, &o, &d, &m, &n, &one, A, &lda, B, &ldb);
}

OneThread::OneThread()
{
    Shared&                           all = shared();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (all.users++ > 0 || all.calls.set == nullptr) return;
    all.former = all.calls.get();
    if (all.former != 1) all.calls.set(1);
}

OneThread::~OneThread()
{
    Shared&                           all = shared();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (--all.users > 0 || all.calls.set == nullptr) return;
    if (all.former != 1) all.calls.set(all.former);
}

}  // namespace ilux::blas
