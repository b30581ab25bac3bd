#pragma once
// The tasks of a refactorization's program, made on a GPU. Only .cu files include this.

#include "ilux/direct/dataflow/factor_program_view.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"

namespace ilux {

/// Shapes of all units, as tasks take them: DataflowUnits::shapes, on the device.
class FactorShapes {
public:
    /// @param saved  members of groups but one each; waits
    FactorShapes(Gpu& gpu, const FactorProgramView& view, Offset saved);

    const DataflowUnits::Shape* shape() const { return shape_; }
    std::uint32_t               count() const { return count_; }
    Index                       depth() const { return depth_; }  ///< levels
    std::size_t                 bytes() const { return arrays_.bytes(); }

private:
    DeviceArrays          arrays_;
    DataflowUnits::Shape* shape_ = nullptr;
    std::uint32_t         count_ = 0;
    Index                 depth_ = 0;
};

/// Device arrays of FactorTasks.
struct FactorTaskView {
    DataflowProgram::Task* task = nullptr;         ///< tasks; without places
    std::uint32_t*         first_shape = nullptr;  ///< tasks + 1
    Offset*                row = nullptr;          ///< tasks + 1; rows of operands before
    Offset*                slot = nullptr;         ///< tasks + 1; slots before, without those of constants
    std::int32_t*          pilot = nullptr;        ///< depth; a slot of each level; −1: none
    DataflowProgram::Slot* place = nullptr;        ///< units
    Index                  tasks = 0;
};

/// What DataflowLayout is on the host.
class FactorTasks {
public:
    /// Waits. @throws InvalidInput when slots or operands pass what 32 bits can count
    FactorTasks(Gpu& gpu, const FactorProgramView& view, Offset saved);

    const FactorTaskView& view() const { return view_; }
    const FactorShapes&   shapes() const { return shapes_; }
    Offset                rows() const { return rows_; }  ///< of 32 operands
    Offset                slots() const { return slots_; }
    std::size_t           bytes() const { return shapes_.bytes() + arrays_.bytes(); }
    /// Whole tasks, with places; only enqueued.
    void write(Gpu& gpu, DataflowProgram::Task* to) const;

private:
    FactorShapes   shapes_;
    DeviceArrays   arrays_;
    FactorTaskView view_;
    Offset         rows_ = 0, slots_ = 0;
};

}  // namespace ilux
