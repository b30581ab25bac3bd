#pragma once
// M⁻¹ (apply_systems.hpp) on a GPU: a plan for every triangular system, the dense level as a matrix, and the
// preconditioner made of them.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "ilux/base/fields.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/precond/gpu/apply_systems.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

namespace ilux {

/// How a preconditioner is put on a GPU.
struct GpuFactorOptions {
    GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic;
    bool            adjoinable = false;  ///< M⁻ᴴ as well: as much memory again
    Bytes           memory_limit = {};   ///< of the device; 0: what is free there
};

/// What was put on the device, and what that took.
struct GpuFactorReport {
    struct System {
        SpTrsvFacts     facts;
        GpuSpTrsvEngine engine;
    };
    std::vector<System> systems;  ///< of M⁻¹ in their order, then those of M⁻ᴴ
    Index               dense = 0;
    std::size_t         bytes = 0;            ///< without workspaces
    double              seconds_convert = 0;  ///< host: levels to systems
    double              seconds_upload = 0;   ///< analysis of the systems, and transfer
};

/// z ← M⁻¹ r, or M⁻ᴴ r, of S = working_of<T>. Immutable: serves several streams at once, each with a workspace.
template <class T = double>
class GpuApply {
public:
    using S = working_of<T>;

    /// What one stream writes.
    class Workspace {
    public:
        Workspace() = default;
        std::size_t bytes() const;

    private:
        friend class GpuApply;
        DeviceBuffer<S>                                   work_, dense_;
        std::vector<typename GpuSpTrsvPlan<T>::Workspace> plans_;
        std::shared_ptr<void>                             graph_;  // of the steps that touch neither r nor z
    };

    GpuApply() = default;  ///< of order 0
    /// Takes the systems one by one, freeing each on the host. @throws OutOfMemory, DeviceError
    GpuApply(Gpu& gpu, ApplySystems<T> systems, GpuSpTrsvEngine engine);

    Index       size() const { return n_; }
    std::size_t bytes() const;
    void        add_to(GpuFactorReport& report) const;
    Workspace   workspace(Gpu& gpu) const;

    /// z ← M⁻¹ r. Only enqueued; nothing is allocated. A NaN in r spreads as it should.
    void solve(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z, Workspace& ws) const;

private:
    struct Step {
        ApplyPart        in, out;
        bool             dense;
        GpuSpTrsvPlan<T> plan;
    };
    void solve_steps(Gpu& be, std::size_t first, std::size_t last, DeviceSpan<const S> r, DeviceSpan<S> z,
                     Workspace& ws) const;

    Index             n_ = 0, dense_ = 0;
    Offset            work_ = 0;
    std::vector<Step> steps_;
    DeviceBuffer<T>   W_;
    std::size_t       inner_first_ = 0, inner_last_ = 0;  // steps that touch neither r nor z and are worth a graph
};

/// M⁻¹, and M⁻ᴴ where asked for, on a GPU. Cheap to copy (shared); immutable; serves any number of streams.
template <class T = double>
class GpuFactors {
public:
    /// @param factors  MlIluFactors or Ilu0 of working_of<T>; not needed any more afterwards
    /// @throws OutOfMemory before anything is allocated when the estimate passes options.memory_limit or the free
    /// memory
    template <class Factors>
    GpuFactors(Cpu& cpu, Gpu& gpu, const Factors& factors, const GpuFactorOptions& options);

    Index                  size() const { return made_->apply.size(); }
    bool                   adjoinable() const { return made_->adjoinable; }
    const GpuApply<T>&     apply() const { return made_->apply; }
    const GpuApply<T>&     apply_adjoint() const { return made_->apply_adjoint; }
    const GpuFactorReport& report() const { return made_->report; }

private:
    struct Made {
        GpuApply<T>     apply, apply_adjoint;
        bool            adjoinable = false;
        GpuFactorReport report;
    };
    std::shared_ptr<const Made> made_;
};

/// z ← M⁻¹ r with the workspace of one stream.
template <class T = double>
class GpuFactorPreconditioner final : public Preconditioner<Gpu, working_of<T>> {
public:
    using S = working_of<T>;

    /// Allocates the workspace. @throws OutOfMemory, DeviceError
    GpuFactorPreconditioner(Gpu& gpu, GpuFactors<T> gpu_factors);
    Index       size() const override { return gpu_factors_.size(); }
    std::size_t workspace_bytes() const { return ws_.bytes() + ws_t_.bytes(); }
    void        apply(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z) override;
    /// @throws InvalidInput when made without the adjoint
    void apply_adjoint(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z) override;

private:
    GpuFactors<T>                   gpu_factors_;
    typename GpuApply<T>::Workspace ws_, ws_t_;
};

namespace detail {

/// x ← W x for W of order x.size(), by rows; scratch holds as many values, or none up to dense_in_place.
template <class T>
void multiply_dense(Gpu& be, DeviceSpan<const T> W, DeviceSpan<working_of<T>> x, DeviceSpan<working_of<T>> scratch);
constexpr Index dense_in_place = 64;

/// What `work` enqueues on the stream of `gpu`, to be enqueued again by launch_graph.
std::shared_ptr<void> capture_graph(Gpu& gpu, const std::function<void()>& work);
void                  launch_graph(Gpu& gpu, const std::shared_ptr<void>& graph);

}  // namespace detail
}  // namespace ilux
