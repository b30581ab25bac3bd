#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"
#include "ilux/lab/rivals/rival_columns.hpp"
#include "ilux/lab/rivals/rival_library.hpp"

// Last, as they define macros of common names.
#include <slu_ddefs.h>
#include <slu_zdefs.h>

namespace ilux::app {
namespace {

/// Complex values have functions of their own where they matter, of the same types but for their names.
struct SuperLuLibrary : RivalLibrary {
    decltype(&::set_default_options)      set_default_options = nullptr;
    decltype(&::get_perm_c)               get_perm_c = nullptr;
    decltype(&::sp_preorder)              sp_preorder = nullptr;
    decltype(&::sp_ienv)                  sp_ienv = nullptr;
    decltype(&::StatInit)                 stat_init = nullptr;
    decltype(&::StatFree)                 stat_free = nullptr;
    decltype(&::Destroy_CompCol_Permuted) destroy_permuted = nullptr;
    decltype(&::Destroy_SuperNode_Matrix) destroy_lower = nullptr;
    decltype(&::Destroy_CompCol_Matrix)   destroy_upper = nullptr;
    struct OfValues {
        decltype(&::dgsequ)      equilibration = nullptr;
        decltype(&::dlaqgs)      equilibrate = nullptr;
        decltype(&::dgstrf)      factor = nullptr;
        decltype(&::dgstrs)      solve = nullptr;
        decltype(&::dQuerySpace) space = nullptr;
    } real, complex;

    SuperLuLibrary() : RivalLibrary({fmt::format("libsuperlu.so.{}", SUPERLU_MAJOR_VERSION)})
    {
        find("set_default_options", set_default_options);
        find("get_perm_c", get_perm_c);
        find("sp_preorder", sp_preorder);
        find("sp_ienv", sp_ienv);
        find("StatInit", stat_init);
        find("StatFree", stat_free);
        find("Destroy_CompCol_Permuted", destroy_permuted);
        find("Destroy_SuperNode_Matrix", destroy_lower);
        find("Destroy_CompCol_Matrix", destroy_upper);
        const auto find_all = [&](const std::string& prefix, OfValues& functions) {
            find(prefix + "gsequ", functions.equilibration);
            find(prefix + "laqgs", functions.equilibrate);
            find(prefix + "gstrf", functions.factor);
            find(prefix + "gstrs", functions.solve);
            find(prefix + "QuerySpace", functions.space);
        };
        find_all("d", real);
        find_all("z", complex);
    }
};

static_assert(std::is_same_v<decltype(&::dgsequ), decltype(&::zgsequ)>);
static_assert(std::is_same_v<decltype(&::dlaqgs), decltype(&::zlaqgs)>);
static_assert(std::is_same_v<decltype(&::dgstrf), decltype(&::zgstrf)>);
static_assert(std::is_same_v<decltype(&::dgstrs), decltype(&::zgstrs)>);
static_assert(std::is_same_v<decltype(&::dQuerySpace), decltype(&::zQuerySpace)>);

const SuperLuLibrary& superlu()
{
    static const SuperLuLibrary library;
    return library;
}

/// The steps of its expert driver, one by one.
template <Scalar S>
class SuperLuRival : public LuRival<S> {
public:
    explicit SuperLuRival(const CsrView<S>& A)
        : columns_(A),
          store_{int_t(A.nnz()), columns_.val.data(), columns_.row.data(), columns_.ptr.data()},
          A_{SLU_NC, kind, SLU_GE, A.rows(), A.rows(), &store_},
          perm_c_(A.rows()),
          perm_r_(A.rows()),
          tree_(A.rows()),
          row_scale_(A.rows()),
          column_scale_(A.rows())
    {
        set_blas_threads(superlu(), 1);
        superlu().set_default_options(&options_);
        superlu().stat_init(&statistics_);
    }
    ~SuperLuRival() override
    {
        if (permuted_.Store != nullptr) superlu().destroy_permuted(&permuted_);
        if (lower_.Store != nullptr) superlu().destroy_lower(&lower_);
        if (upper_.Store != nullptr) superlu().destroy_upper(&upper_);
        superlu().stat_free(&statistics_);
    }

    void analyse() override
    {
        superlu().get_perm_c(options_.ColPerm, &A_, perm_c_.data());
        superlu().sp_preorder(&options_, &A_, perm_c_.data(), tree_.data(), &permuted_);
    }
    void factor() override
    {
        equilibrate();
        int_t info = 0;
        calls_.factor(&options_, &permuted_, superlu().sp_ienv(2), superlu().sp_ienv(1), tree_.data(), nullptr, 0,
                      perm_c_.data(), perm_r_.data(), &lower_, &upper_, &global_, &statistics_, &info);
        require(info == 0, [&] { return fmt::format("SuperLU: info {} of the factorization", info); });
    }
    /// `permuted_` looks at the same values.
    void set_values(std::span<const S> values) override { columns_.set(values); }
    void refactor() override
    {
        options_.Fact = SamePattern_SameRowPerm;
        factor();
    }
    std::span<const S> solve(std::span<S> b) override
    {
        if (scaled_ == 'R' || scaled_ == 'B') scale(b, row_scale_);
        DNformat    dense{int_t(b.size()), b.data()};
        SuperMatrix B{SLU_DN, kind, SLU_GE, int_t(b.size()), 1, &dense};
        int         info = 0;
        calls_.solve(NOTRANS, &lower_, &upper_, perm_c_.data(), perm_r_.data(), &B, &statistics_, &info);
        require(info == 0, [&] { return fmt::format("SuperLU: info {} of the solve", info); });
        if (scaled_ == 'C' || scaled_ == 'B') scale(b, column_scale_);
        return b;
    }
    nlohmann::ordered_json facts() const override
    {
        mem_usage_t space{};
        calls_.space(const_cast<SuperMatrix*>(&lower_), const_cast<SuperMatrix*>(&upper_), &space);
        const double nnz = double(static_cast<const SCformat*>(lower_.Store)->nnz) +
                           double(static_cast<const NCformat*>(upper_.Store)->nnz) - double(columns_.n());
        return {{"version",
                 fmt::format("{}.{}.{}", SUPERLU_MAJOR_VERSION, SUPERLU_MINOR_VERSION, SUPERLU_PATCH_VERSION)},
                {"blas", blas_of(superlu())},
                {"nnz_LU", nnz},
                {"bytes", space.for_lu},
                {"refine_steps", 0}};
    }

private:
    static constexpr Dtype_t kind = is_complex<S> ? SLU_Z : SLU_D;

    /// Values in place, where rows or columns call for it.
    void equilibrate()
    {
        double rows = 0, columns = 0, largest = 0;
        int    info = 0;
        calls_.equilibration(&A_, row_scale_.data(), column_scale_.data(), &rows, &columns, &largest, &info);
        scaled_ = 'N';
        if (info == 0)
            calls_.equilibrate(&A_, row_scale_.data(), column_scale_.data(), rows, columns, largest, &scaled_);
    }
    static void scale(std::span<S> x, std::span<const double> by)
    {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] *= by[i];
    }

    const SuperLuLibrary::OfValues& calls_ = is_complex<S> ? superlu().complex : superlu().real;
    RivalColumns<S, int_t>          columns_;
    NCformat                        store_;
    SuperMatrix                     A_, permuted_{}, lower_{}, upper_{};
    std::vector<int>                perm_c_, perm_r_, tree_;
    std::vector<double>             row_scale_, column_scale_;
    char                            scaled_ = 'N';
    superlu_options_t               options_{};
    SuperLUStat_t                   statistics_{};
    GlobalLU_t                      global_{};
};

}  // namespace

std::string why_no_superlu() { return superlu().missing(); }

template <Scalar S>
LuRivalPointer<S> make_superlu(const CsrView<S>& A, int)
{
    require(superlu().missing().empty(), [] { return "SuperLU: " + superlu().missing(); });
    require_32_bits("SuperLU", A);
    return std::make_unique<SuperLuRival<S>>(A);
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_superlu(const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
