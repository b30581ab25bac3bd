#pragma once
// The words of a command line that `ilux-lab lu` and `ilux-lab lu-model` share.

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ilux/apps/program/command.hpp"
#include "ilux/apps/program/machine.hpp"
#include "ilux/engine/machine/device.hpp"
#include "ilux/lab/suites/bench_lu_measure.hpp"

namespace ilux::app {

struct LuArguments {
    LuBench                  bench;
    DeviceChoice             device = DeviceChoice::automatic;
    std::vector<std::string> paths, steps;
    Output                   svg;
    std::string              commit = build_commit();
    bool                     json = false, in_process = false;
};

/// What a suite says in its own words of the options that both have.
struct LuHelp {
    std::string_view summary, device, json, svg, steps;
    std::string_view left_out = "";  ///< a field of LuBench that the suite does not have
};

/// Reads LuArguments. A suite adds options of its own between construction and read().
class LuParser {
public:
    LuParser(const std::string& suite, const LuHelp& help, LuArguments& given);

    Parser& app() { return *app_; }
    /// @param standard  the value that --help shows
    void option(const std::string& name, std::string& text, std::string_view help, const char* value,
                const std::string& standard = "", const char* group = "Measurement");
    /// @return false: only help was asked for  @throws InvalidOption for values out of range; InvalidInput for a path
    /// that is not there
    bool read(Arguments arguments);

private:
    LuArguments&            given_;
    std::unique_ptr<Parser> app_;
    std::deque<std::pair<std::string, std::string>>
                fields_;  // name and text of those of LuBench; the parser keeps where they stand
    std::string device_ = "auto", steps_;
};

}  // namespace ilux::app
