#include <fmt/core.h>
#include <klu.h>

#include <nlohmann/json.hpp>

#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"
#include "ilux/lab/rivals/rival_columns.hpp"
#include "ilux/lab/rivals/rival_library.hpp"

namespace ilux::app {
namespace {

/// Complex values have functions of their own where they matter.
struct KluLibrary : RivalLibrary {
    decltype(&klu_defaults)      defaults = nullptr;
    decltype(&klu_analyze)       analyze = nullptr;
    decltype(&klu_free_symbolic) free_symbolic = nullptr;
    struct OfValues {
        decltype(&klu_factor)       factor = nullptr;
        decltype(&klu_refactor)     refactor = nullptr;
        decltype(&klu_solve)        solve = nullptr;
        decltype(&klu_free_numeric) free_numeric = nullptr;
    } real, complex;

    KluLibrary() : RivalLibrary({fmt::format("libklu.so.{}", KLU_MAIN_VERSION)})
    {
        find("klu_defaults", defaults);
        find("klu_analyze", analyze);
        find("klu_free_symbolic", free_symbolic);
        const auto find_all = [&](const std::string& prefix, OfValues& functions) {
            find(prefix + "factor", functions.factor);
            find(prefix + "refactor", functions.refactor);
            find(prefix + "solve", functions.solve);
            find(prefix + "free_numeric", functions.free_numeric);
        };
        find_all("klu_", real);
        find_all("klu_z_", complex);
    }
};

// Both kinds of values are arrays of double to KLU, so their functions are of one type.
static_assert(std::is_same_v<decltype(&klu_factor), decltype(&klu_z_factor)>);
static_assert(std::is_same_v<decltype(&klu_refactor), decltype(&klu_z_refactor)>);
static_assert(std::is_same_v<decltype(&klu_solve), decltype(&klu_z_solve)>);

const KluLibrary& klu()
{
    static const KluLibrary library;
    return library;
}

template <Scalar S>
class KluRival : public LuRival<S> {
public:
    explicit KluRival(const CsrView<S>& A) : A_(A) { klu().defaults(&common_); }
    ~KluRival() override
    {
        if (numeric_ != nullptr) calls_.free_numeric(&numeric_, &common_);
        if (symbolic_ != nullptr) klu().free_symbolic(&symbolic_, &common_);
    }

    void analyse() override
    {
        symbolic_ = klu().analyze(A_.n(), A_.ptr.data(), A_.row.data(), &common_);
        require_good(symbolic_ != nullptr, "analysis");
    }
    void factor() override
    {
        numeric_ = calls_.factor(A_.ptr.data(), A_.row.data(), doubles(A_.val.data()), symbolic_, &common_);
        require_good(numeric_ != nullptr, "first factorization");
    }
    void set_values(std::span<const S> values) override { A_.set(values); }
    void refactor() override
    {
        const int good =
            calls_.refactor(A_.ptr.data(), A_.row.data(), doubles(A_.val.data()), symbolic_, numeric_, &common_);
        require_good(good != 0, "refactorization");
    }
    std::span<const S> solve(std::span<S> b) override
    {
        calls_.solve(symbolic_, numeric_, A_.n(), 1, doubles(b.data()), &common_);
        return b;
    }
    nlohmann::ordered_json facts() const override
    {
        return {{"version", fmt::format("{}.{}.{}", KLU_MAIN_VERSION, KLU_SUB_VERSION, KLU_SUBSUB_VERSION)},
                {"nnz_LU", double(numeric_->lnz) + numeric_->unz - numeric_->n + numeric_->nzoff},
                {"bytes", common_.memusage},
                {"refine_steps", 0}};
    }

private:
    void require_good(bool good, const char* what) const
    {
        require(good && common_.status == KLU_OK,
                [&] { return fmt::format("KLU: status {} of the {}", common_.status, what); });
    }

    const KluLibrary::OfValues& calls_ = is_complex<S> ? klu().complex : klu().real;
    klu_common                  common_{};
    klu_symbolic*               symbolic_ = nullptr;
    klu_numeric*                numeric_ = nullptr;
    RivalColumns<S, int>        A_;
};

}  // namespace

std::string why_no_klu() { return klu().missing(); }

template <Scalar S>
LuRivalPointer<S> make_klu(const CsrView<S>& A, int)
{
    require(klu().missing().empty(), [] { return "KLU: " + klu().missing(); });
    require_32_bits("KLU", A);
    return std::make_unique<KluRival<S>>(A);
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_klu(const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
