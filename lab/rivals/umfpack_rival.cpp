#include <fmt/core.h>
#include <umfpack.h>

#include <array>
#include <nlohmann/json.hpp>

#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"
#include "ilux/lab/rivals/rival_columns.hpp"
#include "ilux/lab/rivals/rival_library.hpp"

namespace ilux::app {
namespace {

/// The functions with 64-bit integers: 32 bits would limit the factors to 2³¹ units of memory.
struct UmfpackLibrary : RivalLibrary {
    decltype(&umfpack_dl_symbolic)      symbolic = nullptr;
    decltype(&umfpack_zl_symbolic)      symbolic_z = nullptr;
    decltype(&umfpack_dl_numeric)       numeric = nullptr;
    decltype(&umfpack_zl_numeric)       numeric_z = nullptr;
    decltype(&umfpack_dl_solve)         solve = nullptr;
    decltype(&umfpack_zl_solve)         solve_z = nullptr;
    decltype(&umfpack_dl_defaults)      defaults = nullptr, defaults_z = nullptr;
    decltype(&umfpack_dl_free_symbolic) free_symbolic = nullptr, free_symbolic_z = nullptr;
    decltype(&umfpack_dl_free_numeric)  free_numeric = nullptr, free_numeric_z = nullptr;

    UmfpackLibrary() : RivalLibrary({fmt::format("libumfpack.so.{}", UMFPACK_MAIN_VERSION)})
    {
        find("umfpack_dl_symbolic", symbolic);
        find("umfpack_zl_symbolic", symbolic_z);
        find("umfpack_dl_numeric", numeric);
        find("umfpack_zl_numeric", numeric_z);
        find("umfpack_dl_solve", solve);
        find("umfpack_zl_solve", solve_z);
        find("umfpack_dl_defaults", defaults);
        find("umfpack_zl_defaults", defaults_z);
        find("umfpack_dl_free_symbolic", free_symbolic);
        find("umfpack_zl_free_symbolic", free_symbolic_z);
        find("umfpack_dl_free_numeric", free_numeric);
        find("umfpack_zl_free_numeric", free_numeric_z);
    }
};

const UmfpackLibrary& umfpack()
{
    static const UmfpackLibrary library;
    return library;
}

template <Scalar S>
class UmfpackRival : public LuRival<S> {
public:
    UmfpackRival(const CsrView<S>& A, int threads) : A_(A), x_(A.rows()), threads_(threads)
    {
        set_blas_threads(umfpack(), threads);
        (is_complex<S> ? umfpack().defaults_z : umfpack().defaults)(control_.data());
    }
    ~UmfpackRival() override
    {
        free_numeric();
        if (symbolic_ != nullptr) (is_complex<S> ? umfpack().free_symbolic_z : umfpack().free_symbolic)(&symbolic_);
    }

    void analyse() override
    {
        const auto status = [&] {
            if constexpr (is_complex<S>)
                return umfpack().symbolic_z(A_.n(), A_.n(), A_.ptr.data(), A_.row.data(), values(), nullptr, &symbolic_,
                                            control_.data(), info_.data());
            else
                return umfpack().symbolic(A_.n(), A_.n(), A_.ptr.data(), A_.row.data(), values(), &symbolic_,
                                          control_.data(), info_.data());
        }();
        require_good(status, "analysis");
    }
    void factor() override
    {
        free_numeric();
        const auto status = [&] {
            if constexpr (is_complex<S>)
                return umfpack().numeric_z(A_.ptr.data(), A_.row.data(), values(), nullptr, symbolic_, &numeric_,
                                           control_.data(), info_.data());
            else
                return umfpack().numeric(A_.ptr.data(), A_.row.data(), values(), symbolic_, &numeric_, control_.data(),
                                         info_.data());
        }();
        require_good(status, "factorization");
    }
    void               set_values(std::span<const S> values) override { A_.set(values); }
    void               refactor() override { factor(); }
    std::span<const S> solve(std::span<S> b) override
    {
        const auto status = [&] {
            if constexpr (is_complex<S>)
                return umfpack().solve_z(UMFPACK_A, A_.ptr.data(), A_.row.data(), values(), nullptr, doubles(x_.data()),
                                         nullptr, doubles(b.data()), nullptr, numeric_, control_.data(), info_.data());
            else
                return umfpack().solve(UMFPACK_A, A_.ptr.data(), A_.row.data(), values(), x_.data(), b.data(), numeric_,
                                       control_.data(), info_.data());
        }();
        require_good(status, "solve");
        return x_;
    }
    nlohmann::ordered_json facts() const override
    {
        return {{"version", fmt::format("{}.{}.{}", UMFPACK_MAIN_VERSION, UMFPACK_SUB_VERSION, UMFPACK_SUBSUB_VERSION)},
                {"blas", blas_of(umfpack())},
                {"blas_threads", threads_},
                {"nnz_LU", info_[UMFPACK_LNZ] + info_[UMFPACK_UNZ] - double(A_.n())},
                {"bytes", (info_[UMFPACK_NUMERIC_SIZE] + info_[UMFPACK_SYMBOLIC_SIZE]) * info_[UMFPACK_SIZE_OF_UNIT]},
                {"refine_steps", info_[UMFPACK_IR_TAKEN]}};
    }

private:
    double* values() { return doubles(A_.val.data()); }
    void    free_numeric()
    {
        if (numeric_ != nullptr) (is_complex<S> ? umfpack().free_numeric_z : umfpack().free_numeric)(&numeric_);
    }
    void require_good(long long status, const char* what) const
    {
        require(status == UMFPACK_OK, [&] { return fmt::format("UMFPACK: status {} of the {}", status, what); });
    }

    RivalColumns<S, SuiteSparse_long>   A_;
    std::vector<S>                      x_;
    int                                 threads_;
    void *                              symbolic_ = nullptr, *numeric_ = nullptr;
    std::array<double, UMFPACK_CONTROL> control_{};
    std::array<double, UMFPACK_INFO>    info_{};
};

}  // namespace

std::string why_no_umfpack() { return umfpack().missing(); }

template <Scalar S>
LuRivalPointer<S> make_umfpack(const CsrView<S>& A, int threads)
{
    require(umfpack().missing().empty(), [] { return "UMFPACK: " + umfpack().missing(); });
    return std::make_unique<UmfpackRival<S>>(A, threads);
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_umfpack(const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
