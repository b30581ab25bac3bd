#pragma once
// What an ilux_solver is: options, a message, and a LinearSolver of real or complex numbers.

#include <atomic>
#include <complex>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ilux/c_api/caller_csr.hpp"
#include "ilux/c_api/guard.hpp"
#include "ilux/c_api/ilux.h"
#include "ilux/direct/factor/lu_triangles.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/solver/operator_solver.hpp"

/// The calls that need to know the numbers; each may throw.
struct ilux_solver {
    virtual ~ilux_solver() = default;
    virtual bool         is_complex() const = 0;
    virtual std::int64_t order() const = 0;      ///< of the analysed matrix; -1: none
    virtual bool         on_device() const = 0;  ///< the matrix analysed last, and vectors with it
    /// @param columns  count·n; for the next analysis
    virtual void set_null_space(std::int64_t n, std::int64_t count, const void* columns) = 0;
    virtual void analyse(const ilux_csr& A, const ilux::Ahead& ahead) = 0;
    /// @param values  null: those analysed
    virtual ilux::FactorReport factor(const void* values, bool again) = 0;
    virtual void               solve(ilux::Transpose op, std::int64_t columns, const void* b, std::int64_t ldb, void* x,
                                     std::int64_t ldx) = 0;
    virtual void precondition(ilux::Transpose op, std::int64_t columns, const void* r, std::int64_t ldr, void* z,
                              std::int64_t ldz) = 0;
    virtual ilux_factors factors() const = 0;
    virtual ilux_lu      lu() = 0;
    /// @return how many; columns: where they are
    virtual std::int64_t near_null(const void*& columns) = 0;
    virtual void         solve_batch(std::int64_t members, const void* values, const void* b, void* x) = 0;
    virtual void solve_operator(std::int64_t n, ilux_apply A, void* user_A, ilux_apply M, void* user_M, const void* b,
                                void* x) = 0;
    virtual nlohmann::ordered_json info(const ilux_csr& A, bool levels) = 0;
    virtual nlohmann::ordered_json compare(const ilux_csr& A, const void* b, std::span<const std::string> strategies,
                                           std::int64_t repeats) = 0;

    void set_near_null(std::int64_t n, std::int64_t count, const double* columns);

    ilux::Gpu& gpu();
    void       use_stream(int device, void* stream);
    bool shares_stream(const ilux_solver& other) const { return device_ == other.device_ && stream_ == other.stream_; }
    ilux::AttemptListener listener();
    ilux::StopToken       stop();
    void                  copy_iterate(void* x) const;

    ilux::SolverOptions             options;
    ilux::c_api::Message            message;
    std::string                     text;                ///< of the last report or options that were asked for
    std::int64_t                    near_null_rows = 0;  ///< of set_near_null()
    std::vector<ilux::SolverReport> reports;
    ilux_progress                   progress = nullptr;
    void*                           user = nullptr;
    std::atomic<bool>               cancelled = false;
    enum class Busy { no, with_factors, with_operator } busy = Busy::no;  ///< a call is under way

private:
    int                      device_ = 0;
    void*                    stream_ = nullptr;
    std::optional<ilux::Gpu> gpu_;
    const ilux::Progress*    told_ = nullptr;  // while the listener is called
};

namespace ilux::c_api {

/// The report of a solve whose x is the caller's already.
SolverReport without_x(SolverReport report);

template <class S>
class Session final : public ilux_solver {
public:
    bool         is_complex() const override { return ilux::is_complex<S>; }
    std::int64_t order() const override { return solver_ ? matrix_.view().rows() : -1; }
    bool         on_device() const override { return solver_ && matrix_.on_device(); }
    void         set_null_space(std::int64_t n, std::int64_t count, const void* columns) override;
    void         analyse(const ilux_csr& A, const Ahead& ahead) override;
    FactorReport factor(const void* values, bool again) override;
    void solve(Transpose op, std::int64_t columns, const void* b, std::int64_t ldb, void* x, std::int64_t ldx) override;
    void precondition(Transpose op, std::int64_t columns, const void* r, std::int64_t ldr, void* z,
                      std::int64_t ldz) override;
    ilux_factors factors() const override;
    ilux_lu      lu() override;
    std::int64_t near_null(const void*& columns) override;
    void         solve_batch(std::int64_t members, const void* values, const void* b, void* x) override;
    void         solve_operator(std::int64_t n, ilux_apply A, void* user_A, ilux_apply M, void* user_M, const void* b,
                                void* x) override;
    nlohmann::ordered_json info(const ilux_csr& A, bool levels) override;
    nlohmann::ordered_json compare(const ilux_csr& A, const void* b, std::span<const std::string> strategies,
                                   std::int64_t repeats) override;

private:
    LinearSolver<S>& ready();
    /// @throws InvalidInput, where there are vectors of set_null_space, for what cannot use them
    void        require_no_null_space(const char* call) const;
    GpuOfCaller gpu_of_caller()
    {
        return [this]() -> Gpu& { return gpu(); };
    }
    /// Calls work(B, X), with Arrays from the first number of the first column to the last of the
    /// last.
    template <class Work>
    void with_arrays(std::int64_t count, const void* b, std::int64_t ldb, void* x, std::int64_t ldx, Work&& work);

    CallerCsr<S>                     matrix_;
    std::vector<S>                   null_space_;  // null_vectors_ columns
    Index                            null_vectors_ = 0;
    std::unique_ptr<LinearSolver<S>> solver_;
    std::shared_ptr<const LuPattern> lu_pattern_;  // of lu()
    LuTriangles<S>                   triangles_;
    std::vector<S>                   near_null_;        // of near_null(), where they are on a GPU
    bool                             renewed_ = false;  // other values than those of A were factored last
};

}  // namespace ilux::c_api
