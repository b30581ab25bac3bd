#pragma once
// A fixture for tests that need a GPU.

#include <gtest/gtest.h>

#include <memory>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

/// Has a GPU; where there is none, the test is skipped and says why.
class GpuTest : public testing::Test {
protected:
    void SetUp() override
    {
        ILUX_SKIP_WITHOUT_GPU();
        gpu_ = std::make_unique<Gpu>();
    }
    Gpu& gpu() { return *gpu_; }

private:
    std::unique_ptr<Gpu> gpu_;
};

}  // namespace ilux::test
