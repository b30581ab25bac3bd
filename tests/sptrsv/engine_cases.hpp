#pragma once
// Every engine of a GPU with both precisions, as the parameter of a test.

#include <string>
#include <vector>

#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

namespace ilux::test {

/// An engine, and whether values are stored in single precision.
struct EngineCase {
    GpuSpTrsvEngine engine;
    bool            single;

    std::string name() const
    {
        std::string text(ilux::name(engine));
        std::erase(text, '_');
        return text + (single ? "Single" : "Double");
    }
    bool vendor() const { return engine == GpuSpTrsvEngine::cusparse; }
};

inline std::vector<EngineCase> engine_cases()
{
    std::vector<EngineCase> all;
    for (std::size_t e = 0; e < names(GpuSpTrsvEngine{}).size(); ++e)
        for (bool single : {false, true}) all.push_back({static_cast<GpuSpTrsvEngine>(e), single});
    return all;
}

}  // namespace ilux::test
