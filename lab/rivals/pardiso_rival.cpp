#include <fmt/core.h>
#include <mkl_pardiso.h>
#include <mkl_service.h>
#include <mkl_types.h>
#include <mkl_version.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"
#include "ilux/lab/rivals/rival_columns.hpp"
#include "ilux/lab/rivals/rival_library.hpp"

namespace ilux::app {
namespace {

/// The loader's library of that name, or the one whose headers were found; ILUX_MKL_LIBRARY is its path.
struct MklLibrary : RivalLibrary {
    decltype(&::pardiso)               pardiso = nullptr;
    decltype(&::pardisoinit)           pardisoinit = nullptr;
    decltype(&MKL_Set_Num_Threads)     set_num_threads = nullptr;
    decltype(&MKL_Get_Version)         get_version = nullptr;
    decltype(&MKL_Set_Threading_Layer) set_threading_layer = nullptr;
    decltype(&MKL_Set_Interface_Layer) set_interface_layer = nullptr;

    MklLibrary() : RivalLibrary({ILUX_MKL_NAME, ILUX_MKL_LIBRARY})
    {
        find("pardiso", pardiso);
        find("pardisoinit", pardisoinit);
        find("MKL_Set_Num_Threads", set_num_threads);
        find("MKL_Get_Version", get_version);
        // A library made of MKL's static ones has its layers already. In the others Intel's own runtime of OpenMP would
        // call functions of libgomp, which this program has brought.
        find_if_there("MKL_Set_Threading_Layer", set_threading_layer);
        find_if_there("MKL_Set_Interface_Layer", set_interface_layer);
        if (set_threading_layer != nullptr) set_threading_layer(MKL_THREADING_GNU);
        if (set_interface_layer != nullptr) set_interface_layer(MKL_INTERFACE_LP64);
    }
};

const MklLibrary& mkl()
{
    static const MklLibrary library;
    return library;
}

std::string mkl_version()
{
    MKLVersion version{};
    mkl().get_version(&version);
    return fmt::format("{}.{}", version.MajorVersion, version.UpdateVersion);
}

enum Phase : MKL_INT { analysis = 11, factorization = 22, solution = 33, release = -1 };

template <Scalar S>
class PardisoRival : public LuRival<S> {
public:
    PardisoRival(const CsrView<S>& A, int threads)
        : n_(A.rows()),
          threads_(threads),
          ptr_(A.row_ptr().begin(), A.row_ptr().end()),
          col_(A.col().begin(), A.col().end()),
          val_(A.val().begin(), A.val().end()),
          x_(A.rows())
    {
        mkl().set_num_threads(threads);
        mkl().pardisoinit(handle_.data(), &type, iparm_.data());
        iparm_[7] = 0;   // the documented default; pardisoinit asks for two steps of refinement at every solve,
        iparm_[18] = 0;  // and for a count of operations
        iparm_[10] = iparm_[12] = 1;  // scaling and matching, which are the default for these types
        iparm_[17] = -1;              // it is to count the entries of L and U
        iparm_[34] = 1;               // indices from 0
    }
    ~PardisoRival() override { call(release, nullptr); }

    void               analyse() override { require_good(call(analysis, nullptr), "analysis"); }
    void               factor() override { require_good(call(factorization, nullptr), "factorization"); }
    void               set_values(std::span<const S> values) override { std::ranges::copy(values, val_.begin()); }
    void               refactor() override { factor(); }
    std::span<const S> solve(std::span<S> b) override
    {
        require_good(call(solution, b.data()), "solve");
        return x_;
    }
    nlohmann::ordered_json facts() const override
    {
        return {{"version", mkl_version()},       {"threads", threads_},
                {"nnz_LU", iparm_[17]},           {"bytes", 1024. * (double(iparm_[15]) + double(iparm_[16]))},
                {"perturbed_pivots", iparm_[13]}, {"refine_steps", iparm_[6]}};
    }

private:
    static constexpr MKL_INT type = is_complex<S> ? 13 : 11;  // unsymmetric

    MKL_INT call(MKL_INT phase, S* b)
    {
        const MKL_INT one = 1, silent = 0;
        MKL_INT       error = 0, unused = 0;
        mkl().pardiso(handle_.data(), &one, &one, &type, &phase, &n_, val_.data(), ptr_.data(), col_.data(), &unused,
                      &one, iparm_.data(), &silent, b, x_.data(), &error);
        return error;
    }
    void require_good(MKL_INT error, const char* what) const
    {
        require(error == 0, [&] { return fmt::format("PARDISO: error {} of the {}", error, what); });
    }

    MKL_INT                 n_;
    int                     threads_;
    std::vector<MKL_INT>    ptr_, col_;
    std::vector<S>          val_, x_;
    std::array<void*, 64>   handle_{};
    std::array<MKL_INT, 64> iparm_{};
};

}  // namespace

std::string why_no_pardiso() { return mkl().missing(); }

template <Scalar S>
LuRivalPointer<S> make_pardiso(const CsrView<S>& A, int threads)
{
    require(mkl().missing().empty(), [] { return "PARDISO: " + mkl().missing(); });
    require_32_bits("PARDISO", A);
    return std::make_unique<PardisoRival<S>>(A, threads);
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_pardiso(const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
