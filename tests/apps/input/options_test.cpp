#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ilux/apps/input/options.hpp"
#include "ilux/apps/input/options_json.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

std::string message(auto&& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Assign, SetsNestedOptionsByTheirPath)
{
    SolveOptions options;
    assign(options, "precond.drop_tol=1e-3");
    assign(options, "precond.kind=ilu0");
    assign(options, "krylov.restart=7");
    assign(options, "memory_limit=2K");
    assign(options, "rhs=a=b.mtx");
    EXPECT_EQ(options.precond.mlilu.drop_tol, 1e-3);
    EXPECT_EQ(options.precond.kind, PrecondKind::ilu0);
    EXPECT_EQ(options.krylov.restart, 7);
    EXPECT_EQ(options.memory_limit.value, 2048u);
    EXPECT_EQ(options.rhs, "a=b.mtx");
}

TEST(Assign, NamesTheNearestOption)
{
    SolveOptions options;
    EXPECT_NE(message([&] { assign(options, "precond.droptol=1"); }).find("did you mean 'precond.drop_tol'"),
              std::string::npos);
    EXPECT_NE(message([&] { assign(options, "rtol=1"); }).find("did you mean 'krylov.rtol'"), std::string::npos);
    for (const char* start : {"sequence.refresh=2", "refresh=2"})  // shorter names are as near by letters alone
        EXPECT_NE(message([&] { assign(options, start); }).find("did you mean 'sequence.refresh_factor'"),
                  std::string::npos);
    EXPECT_THROW(assign(options, "precond=ilu0"), InvalidOption);  // a group, not an option
    EXPECT_THROW(assign(options, "precond.drop_tol"), InvalidOption);
    EXPECT_THROW(assign(options, ""), InvalidOption);
    EXPECT_THROW(assign(options, "="), InvalidOption);
}

TEST(Assign, RefusesValuesOutOfRangeAndLeavesTheOptionAsItWas)
{
    SolveOptions options;
    for (const char* bad : {"krylov.rtol=-1", "krylov.rtol=nan", "krylov.restart=0", "krylov.max_steps=1e99",
                            "threads=-1", "retry=maybe", "precond.drop_tol=", "time_limit=inff"})
        EXPECT_THROW(assign(options, bad), InvalidOption) << bad;
    EXPECT_EQ(to_json(options), to_json(SolveOptions{}));
}

TEST(Assign, TakesADepthBoundAndJsonGivesItBack)
{
    for (const auto& [text, rows] : {std::pair{"auto", -1}, {"none", 0}, {"64", 64}}) {
        SolveOptions options, copy;
        assign(options, std::string("precond.depth_bound=") + text);
        EXPECT_EQ(options.precond.mlilu.depth_bound.rows, rows);
        read_config(copy, to_json(options).dump(), "c.json");
        EXPECT_EQ(copy.precond.mlilu.depth_bound, options.precond.mlilu.depth_bound);
    }
    SolveOptions options;
    read_config(options, R"({"precond": {"depth_bound": 32}})", "c.json");
    EXPECT_EQ(options.precond.mlilu.depth_bound.rows, 32);
    EXPECT_NE(message([&] { assign(options, "precond.depth_bound=deep"); }).find("auto, none"), std::string::npos);
}

TEST(Assign, TakesTheOptionsOfADirectSolution)
{
    SolveOptions options;
    for (const char* text : {"method=lu", "lu.ordering=colamd", "lu.pivot_tol=0.1", "lu.refactor=cpu",
                             "memory_limit=1G", "lu.dependencies=relaxed", "sequence.refresh_factor=3"})
        assign(options, text);
    EXPECT_EQ(options.method, MethodChoice::lu);
    EXPECT_EQ(options.lu.ordering, LuOrdering::colamd);
    EXPECT_EQ(options.lu.pivot_tol, 0.1);
    EXPECT_EQ(options.lu.refactor, RefactorMethod::cpu);
    EXPECT_EQ(options.memory_limit.value, std::uint64_t{1} << 30);
    EXPECT_EQ(options.sequence.refresh_factor, 3);
    EXPECT_NE(message([&] {
                  assign(options, "method=lux");
              }).find("auto|gmres|fgmres|bicg|bicgstab|cg|minres|sqmr|cocg|lu"),
              std::string::npos);
}

TEST(OptionsWithoutEffect, AreThoseThatSayNothingToTheStrategiesTaken)
{
    const auto remarks = [](const StrategiesTaken& taken, std::initializer_list<const char*> given) {
        SolveOptions options;
        for (const char* one : given) assign(options, one);
        return options_without_effect(options, taken, false).size();
    };
    const StrategiesTaken gmres{.iterative = true, .mlilu = true, .gmres = true, .restarted = true};
    const StrategiesTaken fgmres{.iterative = true, .mlilu = true, .restarted = true},
        cg{.iterative = true, .mlilu = true};
    for (const char* option : {"krylov.side=left", "krylov.restart=9", "krylov.ortho=cgs2", "precond.drop_tol=0.5"}) {
        EXPECT_EQ(remarks(gmres, {option}), 0u) << option;
        EXPECT_EQ(remarks(fgmres, {option}), std::string_view(option).starts_with("krylov.side")) << option;
        EXPECT_EQ(remarks(cg, {option}), std::string_view(option).starts_with("krylov.")) << option;
    }
    EXPECT_EQ(remarks({.iterative = true, .gmres = true, .restarted = true},
                      {"precond.kind=ilu0", "precond.drop_tol=0.5", "precond.inverse_bound=7", "memory_limit=1G"}),
              2u);
    EXPECT_EQ(remarks({.direct = true}, {"device_memory=1G", "method=lu", "precond.kind=ilu0"}), 2u);
    EXPECT_EQ(remarks({.direct = true, .gpu_lu = true, .gpu = true}, {"device_memory=1G"}), 0u);
}

TEST(Config, SetsWhatItNamesAndLeavesTheRest)
{
    SolveOptions options;
    options.krylov.restart = 50;
    read_config(options, R"({"method": "bicg", "retry": false, "krylov": {"rtol": 1e-6, "max_steps": 20},
                             "precond": {"drop_tol": "0.5", "inverse_bound": 7}, "memory_limit": 1024})",
                "c.json");
    EXPECT_EQ(options.method, MethodChoice::bicg);
    EXPECT_FALSE(options.retry);
    EXPECT_EQ(options.krylov.rtol, 1e-6);
    EXPECT_EQ(options.krylov.max_steps, 20);
    EXPECT_EQ(options.krylov.restart, 50);
    EXPECT_EQ(options.precond.mlilu.drop_tol, 0.5);
    EXPECT_EQ(options.precond.mlilu.inverse_bound, 7);
    EXPECT_EQ(options.memory_limit.value, 1024u);
}

TEST(Config, RefusesUnknownKeysWithTheirPath)
{
    SolveOptions options;
    EXPECT_EQ(message([&] { read_config(options, R"({"precond": {"droptol": 1}})", "c.json"); }),
              "c.json: there is no option 'precond.droptol'; did you mean 'precond.drop_tol'?");
    EXPECT_THROW(read_config(options, R"({"kryloff": {"rtol": 1}})", "c.json"), InvalidOption);
    EXPECT_THROW(read_config(options, R"({"krylov.rtol": 1})", "c.json"), InvalidOption);
    EXPECT_THROW(read_config(options, R"({"": 1})", "c.json"), InvalidOption);
}

TEST(Config, RefusesGroupsForValuesAndValuesForGroups)
{
    SolveOptions options;
    for (const char* bad :
         {R"({"krylov": 3})", R"({"krylov": [1]})", R"({"method": {"kind": 1}})", R"({"method": null})",
          R"({"krylov": {"rtol": [1]}})", R"({"threads": 1.5})", R"({"retry": 1})", R"({"threads": 1e300})"})
        EXPECT_THROW(read_config(options, bad, "c.json"), InvalidOption) << bad;
}

TEST(Config, ChangesNothingWhenAnythingIsWrong)
{
    SolveOptions options;
    EXPECT_THROW(read_config(options, R"({"threads": 3, "krylov": {"rtol": 2}})", "c.json"), InvalidOption);
    EXPECT_EQ(options.threads, 0);
}

TEST(Config, TellsLineAndColumnOfBrokenJson)
{
    SolveOptions options;
    EXPECT_EQ(message([&] { read_config(options, "{\n  \"threads\": 3,\n  oops\n}", "c.json"); }),
              "c.json: not JSON at line 3, column 3");
    for (const char* bad : {"", "{", "[]", "3", "{\"a\": \"\xff\"}", "{\"threads\": 1e999}", "{} {}"})
        EXPECT_THROW(read_config(options, bad, "c.json"), InvalidInput) << bad;
}

TEST(Config, RefusesAKeyGivenTwice)
{
    SolveOptions options;
    EXPECT_THROW(read_config(options, R"({"threads": 1, "threads": 2})", "c.json"), InvalidOption);
    EXPECT_NO_THROW(read_config(options, R"({"krylov": {"rtol": 0.1}, "precond": {"drop_tol": 0.1}})", "c.json"));
}

TEST(Config, OfEveryOptionReadsBackToTheSameOptions)
{
    SolveOptions odd;
    for (const char* text : {"method=cg", "threads=3", "rhs=\"é.mtx", "retry=off", "krylov.rtol=0.1",
                             "krylov.side=left", "precond.inverse_bound=inf", "lu.growth_limit=inf",
                             "lu.scaling=matching", "precond.drop_tol=3e-310", "memory_limit=7T", "precond.kind=none"})
        assign(odd, text);
    for (const SolveOptions& options : {SolveOptions{}, odd}) {
        SolveOptions read;
        read_config(read, to_json(options).dump(), "c.json");
        EXPECT_EQ(to_json(read), to_json(options));
        EXPECT_EQ(field_names(options).size(), describe(read).size());
        const auto a = describe(options), b = describe(read);
        for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].value, b[k].value) << a[k].path;
    }
}

TEST(ShortNames, AllStandForAnOptionOfTheTree)
{
    const auto paths = field_names(SolveOptions{});
    for (const ShortName& name : short_names()) EXPECT_TRUE(std::ranges::count(paths, name.path)) << name.flag;
}

}  // namespace
}  // namespace ilux::app
