#include "ilux/direct/batch/lu_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/direct/analysis/lu_input.hpp"

namespace ilux {

template <Scalar S>
LuBatch<S>::LuBatch(Gpu* gpu, std::shared_ptr<const LuSymbolic> symbolic, std::shared_ptr<const LuPattern> pattern,
                    Index members, std::size_t most_bytes)
    : symbolic_(std::move(symbolic))
{
    require(members >= 1, [&] { return fmt::format("a batch of {} members", members); });
    if (gpu != nullptr) {
        require(!is_complex<S>, [] { return "a GPU works on batches of real values alone"; });
        gpu_ = make_gpu_batch_solver(*gpu, symbolic_, std::move(pattern), members, most_bytes);
        return;
    }
    LuFactors<S> factors{.symbolic = symbolic_,
                         .pattern = pattern,
                         .val = LuValues<S>(static_cast<std::size_t>(pattern->nnz())),
                         .f_val = std::vector<S>(static_cast<std::size_t>(pattern->nnz_F())),
                         .monitor = {}};
    host_.emplace(Host{std::move(factors), CpuRefactor<S>(one_thread_, pattern), LuWorkspace<S>(symbolic_->n)});
    if (bytes() > most_bytes)
        throw OutOfMemory(fmt::format("factors of a member of a batch take {}, and {} may be used",
                                      bytes_text(double(bytes())), bytes_text(double(most_bytes))));
}

template <Scalar S>
void LuBatch<S>::refactor(std::span<const S> values, std::span<BatchMember> done)
{
    const auto nnz = static_cast<std::size_t>(symbolic_->input_nnz), most = static_cast<std::size_t>(room());
    require(done.size() <= most && values.size() == done.size() * nnz, [&] {
        return fmt::format("refactor: {} values for {} members of {} entries, and there is room for {}", values.size(),
                           done.size(), nnz, most);
    });
    count_ = done.size();
    values_ = values;
    if (count_ == 0) return;
    if constexpr (!is_complex<S>)
        if (gpu_) return gpu_->refactor(values, done);
    host_->refactor.run(one_thread_, values, host_->factors);
    done.front().monitor = host_->factors.monitor;
}

template <Scalar S>
void LuBatch<S>::require_vectors(std::size_t count, std::span<const S> b, std::span<S> x) const
{
    const std::size_t all = count_ * static_cast<std::size_t>(symbolic_->n);
    require(count == count_ && b.size() == all && x.size() == all, [&] {
        return fmt::format("solve: b has {} and x {} entries for {} members; expected {} for {}", b.size(), x.size(),
                           count, all, count_);
    });
}

template <Scalar S>
void LuBatch<S>::solve(std::span<const S> b, std::span<S> x, std::span<BatchMember> done)
{
    require_vectors(done.size(), b, x);
    if (count_ == 0) return;
    if constexpr (!is_complex<S>)
        if (gpu_) return gpu_->solve(b, x, done);
    done.front().refine = {.finite = false};
    if (!host_->usable()) return;
    const MatrixView<S> A{symbolic_->n, symbolic_->input_ptr, symbolic_->input_idx, values_, symbolic_->layout};
    lu_solve<S>(one_thread_, host_->factors, b, x, host_->ws);
    done.front().refine = lu_refine<S>(one_thread_, host_->factors, A, b, x, host_->ws);
}

template <Scalar S>
void LuBatch<S>::substitute(std::span<const S> b, std::span<S> x)
{
    require_vectors(count_, b, x);
    if (count_ == 0) return;
    if constexpr (!is_complex<S>)
        if (gpu_) return gpu_->substitute(b, x);
    if (host_->usable()) lu_solve<S>(one_thread_, host_->factors, b, x, host_->ws);
}

#define ILUX_INSTANTIATE(S) template class LuBatch<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
