#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <optional>
#include <variant>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/sptrsv/gpu/chunked.hpp"
#include "ilux/sptrsv/gpu/cusparse.hpp"
#include "ilux/sptrsv/gpu/gpu_level_set.hpp"
#include "ilux/sptrsv/gpu/long_rows.hpp"
#include "ilux/sptrsv/gpu/renewed_values.hpp"
#include "ilux/sptrsv/gpu/syncfree.hpp"

namespace ilux {

namespace {

template <class T>
SpTrsvFacts facts_of(const CsrView<T>& L, std::span<const Index> level)
{
    return {.n = L.rows(),
            .depth = level.empty() ? 0 : *std::max_element(level.begin(), level.end()) + 1,
            .nnz = L.nnz(),
            .longest_row = longest_row(L.row_ptr())};
}

/// A kernel follows these blindly.
void check_indices(const std::vector<Index>& index, Index least, Index length, const char* name)
{
    const auto count = static_cast<std::ptrdiff_t>(index.size());
    bool       outside = false;
#pragma omp parallel for schedule(static) num_threads(Cpu().team()) reduction(|| : outside)
    for (std::ptrdiff_t i = 0; i < count; ++i) outside = outside || index[i] < least || index[i] >= length;
    if (!outside) return;
    for (std::size_t i = 0; i < index.size(); ++i)
        require(index[i] >= least && index[i] < length,
                [&] { return fmt::format("{}[{}] is {}; expected {} to {}", name, i, index[i], least, length - 1); });
}

/// That of a RenewedSystem in an engine for T; 1/d_i stay in double.
template <class T>
ForwardSystem<T> stored_in(const ForwardSystem<double>& system)
{
    const auto number = [](double held) {
        if constexpr (std::same_as<real_of<T>, float>) return T(renewed_in_float(held));
        else return T(held);
    };
    return with_numbers<T>(system, number, [](double held) { return working_of<T>(held); });
}

/// Memory of one right-hand side in a workspace for several.
std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Engines follow all of this blindly.
template <class T>
void check(const ForwardSystem<T>& system)
{
    const auto&       L = system.L;
    const std::size_t n = L.rows();
    for (const std::size_t size :
         {system.frame.in_index.size(), system.frame.in_scale.size(), system.frame.out_index.size(),
          system.frame.out_scale.size(), system.inv_diag.size()})
        require(size == 0 || size == n,
                [&] { return fmt::format("a vector of {} values beside a system of order {}", size, n); });
    const Index least = system.frame.length < 0 ? 0 : -1, length = system.length();
    require((!system.frame.in_index.empty() && !system.frame.out_index.empty()) || length >= L.rows(),
            [&] { return fmt::format("vectors of length {} for the rows of a system of order {}", length, n); });
    check_indices(system.frame.in_index, least, length, "in_index");
    check_indices(system.frame.out_index, least, length, "out_index");
    for (Index i = 0; i < L.rows(); ++i) {
        const Offset end = L.row_ptr()[i + 1];
        require(end == L.row_ptr()[i] || L.col()[end - 1] < i, [&] {
            return fmt::format("entry ({}, {}) is not strictly below the diagonal", i + 1, L.col()[end - 1] + 1);
        });
    }
}

}  // namespace

template <class T>
struct GpuSpTrsvPlan<T>::Engine {
    using Any =
        std::variant<SyncFreeEngine<T>, ChunkedEngine<T>, LevelGraphEngine<T>, LevelSetEngine<T>, CuSparseEngine<T>>;

    Any             made;
    GpuSpTrsvEngine which;
    SpTrsvFacts     facts;
    SpTrsvSeconds   seconds;

    std::optional<RenewedValues<T>> renewed = {};  // of a RenewedSystem
    bool                            filled = true;

    /// @param known  the level of every row, or empty
    template <class E>
    static std::unique_ptr<Engine> make(GpuSpTrsvEngine which, Gpu& gpu, const ForwardSystem<T>& system,
                                        std::span<const Index> known = {})
    {
        const WallClock    clock;
        std::vector<Index> found;
        if (known.empty()) known = found = levels(system.L);
        auto all = std::make_unique<Engine>(Engine{E(gpu, system, known), which, facts_of(system.L, known), {}});
        gpu.synchronize();
        all->seconds.host = clock.seconds();
        return all;
    }

    static std::unique_ptr<Engine> whole(ChunkedEngine<T> made)
    {
        const auto facts = made.facts();
        const auto seconds = made.seconds();
        return std::make_unique<Engine>(Engine{std::move(made), GpuSpTrsvEngine::chunked, facts, seconds});
    }

    /// Chunked finds the levels soonest, and leaves them to syncfree where they are wide.
    static std::unique_ptr<Engine> make_automatic(Gpu& gpu, const ForwardSystem<T>& system)
    {
        std::vector<Index> level;
        SpTrsvSeconds      spent;
        {
            ChunkedEngine<T> chunked(gpu, system, WideLevels::give_up);
            if (choose_engine(chunked.facts()) == GpuSpTrsvEngine::chunked) return whole(std::move(chunked));
            level = chunked.take_level();
            spent = chunked.seconds();
        }
        auto all = make<SyncFreeEngine<T>>(GpuSpTrsvEngine::syncfree, gpu, system, level);
        all->seconds += spent;
        return all;
    }

    static std::unique_ptr<Engine> make(GpuSpTrsvEngine which, Gpu& gpu, const ForwardSystem<T>& system)
    {
        switch (which) {
            case GpuSpTrsvEngine::chunked:
                return whole(ChunkedEngine<T>(gpu, system));
            case GpuSpTrsvEngine::syncfree:
                return make<SyncFreeEngine<T>>(which, gpu, system);
            case GpuSpTrsvEngine::level_graph:
                return make<LevelGraphEngine<T>>(which, gpu, system);
            case GpuSpTrsvEngine::level_set:
                return make<LevelSetEngine<T>>(which, gpu, system);
            case GpuSpTrsvEngine::cusparse:
                return make<CuSparseEngine<T>>(which, gpu, system);
            default:
                return make_automatic(gpu, system);
        }
    }
};

template <class T>
GpuSpTrsvPlan<T>::GpuSpTrsvPlan() = default;
template <class T>
GpuSpTrsvPlan<T>::~GpuSpTrsvPlan() = default;
template <class T>
GpuSpTrsvPlan<T>::GpuSpTrsvPlan(GpuSpTrsvPlan&&) noexcept = default;
template <class T>
GpuSpTrsvPlan<T>& GpuSpTrsvPlan<T>::operator=(GpuSpTrsvPlan&&) noexcept = default;

template <class T>
void GpuSpTrsvPlan<T>::make(Gpu& gpu, const ForwardSystem<T>& system, GpuSpTrsvEngine engine)
{
    const WallClock clock;
    check(system);
    const double checks = clock.seconds();
    gpu.make_current();
    impl_ = Engine::make(engine, gpu, system);
    engine_ = impl_->which;
    facts_ = impl_->facts;
    length_ = system.length();
    seconds_ = impl_->seconds;
    seconds_.host += checks;
}

template <class T>
GpuSpTrsvPlan<T>::GpuSpTrsvPlan(Gpu& gpu, const ForwardSystem<T>& system, GpuSpTrsvEngine engine)
{
    make(gpu, system, engine);
}

template <class T>
GpuSpTrsvPlan<T>::GpuSpTrsvPlan(Gpu& gpu, const RenewedSystem& renewed, GpuSpTrsvEngine engine)
{
    if (engine == GpuSpTrsvEngine::cusparse) throw InvalidOption("engine cusparse: its values cannot be renewed");
    if constexpr (std::same_as<T, double>) make(gpu, renewed.system, engine);
    else make(gpu, stored_in<T>(renewed.system), engine);
    const auto take_numbers = [&](auto& made) {
        if constexpr (requires { made.numbers(); }) impl_->renewed.emplace(gpu, made.numbers());
    };
    std::visit(take_numbers, impl_->made);
    impl_->filled = false;
}

template <class T>
void GpuSpTrsvPlan<T>::refill(Gpu& gpu, const T* values)
{
    require(impl_ && impl_->renewed, [] { return std::string("refill: a plan whose values were given once for all"); });
    impl_->renewed->fill(gpu, values);
    impl_->filled = true;
}

template <class T>
std::size_t GpuSpTrsvPlan<T>::bytes() const
{
    if (!impl_) return 0;
    return std::visit([](const auto& engine) { return engine.bytes(); }, impl_->made) +
           (impl_->renewed ? impl_->renewed->bytes() : 0);
}

template <class T>
auto GpuSpTrsvPlan<T>::workspace(Gpu& gpu, Index rhs) const -> Workspace
{
    require(rhs >= 1 && rhs <= most_rhs,
            [&] { return fmt::format("a workspace for {} right-hand sides; expected 1 to {}", rhs, most_rhs); });
    Workspace ws;
    if (!impl_) return ws;
    const auto prepare = [&](const auto& engine) {
        using E = std::decay_t<decltype(engine)>;
        const std::size_t part = aligned(engine.workspace_bytes());
        ws.rhs_ = SolvesSeveral<E> ? rhs : 1;
        ws.memory_ = DeviceBuffer<std::byte>(part * static_cast<std::size_t>(ws.rhs_));
        const DeviceSpan<std::byte> memory = ws.memory_;
        if constexpr (KeepsHostState<E>) ws.state_ = engine.prepare(gpu, memory);
        else
            for (std::size_t k = 0; k < static_cast<std::size_t>(ws.rhs_); ++k)
                engine.prepare(gpu, memory.subspan(k * part, part));
    };
    std::visit(prepare, impl_->made);
    ws.engine_ = impl_.get();
    gpu.synchronize();  // the first solve may come from another stream
    return ws;
}

template <class T>
void GpuSpTrsvPlan<T>::solve(Gpu& be, DeviceSpan<const S> b, DeviceSpan<S> out, Workspace& ws) const
{
    const auto n = static_cast<std::size_t>(length());
    require(b.size() == out.size() && (n == 0 ? b.empty() : b.size() % n == 0), [&] {
        return fmt::format("b has {} values and out {}; both must be a multiple of n = {}", b.size(), out.size(), n);
    });
    if (n == 0) return;
    require(ws.engine_ == impl_.get(), [] { return std::string("the workspace was made by another plan"); });
    require(impl_->filled, [] { return std::string("a plan that waits for its values: refill() comes first"); });
    const DeviceSpan<std::byte> memory = ws.memory_;
    const std::size_t           room = static_cast<std::size_t>(ws.rhs_), part = memory.size() / room;
    const auto                  each = [&](const auto& engine) {
        using E = std::decay_t<decltype(engine)>;
        for (std::size_t at = 0; at < b.size(); at += room * n) {
            const std::size_t         rhs = std::min(room, (b.size() - at) / n);
            const DeviceSpan<const S> right = b.subspan(at, rhs * n);
            const DeviceSpan<S>       result = out.subspan(at, rhs * n);
            if constexpr (KeepsHostState<E>) engine.solve(be, right, result, memory, ws.state_);
            else if constexpr (SolvesSeveral<E>)
                engine.solve(be, right, result, memory.first(rhs * part), static_cast<Index>(rhs));
            else engine.solve(be, right, result, memory);
        }
    };
    std::visit(each, impl_->made);
}

template <class T>
GpuSpTrsvPlan<T> gpu_sptrsv(Gpu& gpu, const CsrView<working_of<T>>& A, Triangle triangle, Diagonal diagonal,
                            bool transposed, GpuSpTrsvEngine engine)
{
    if (!transposed) return {gpu, forward_system<T>(A, triangle, diagonal), engine};
    check_triangle(A, triangle, diagonal);  // before the transpose, for messages in the caller's terms
    return {gpu, forward_system<T>(transpose(A), opposite(triangle), diagonal), engine};
}

#define ILUX_INSTANTIATE(T)                                                                             \
    template class GpuSpTrsvPlan<T>;                                                                    \
    template GpuSpTrsvPlan<T> gpu_sptrsv(Gpu&, const CsrView<working_of<T>>&, Triangle, Diagonal, bool, \
                                         GpuSpTrsvEngine);
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
