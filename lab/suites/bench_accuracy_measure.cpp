#include "ilux/lab/suites/bench_accuracy_measure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/solver/json/json_number.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* truth_step = "truth";

/// NAME_b.mtx beside NAME.mtx, either of them perhaps compressed; "" where there is none.
std::string side_beside(const std::string& file)
{
    for (const char* ending : {".mtx.gz", ".mtx"}) {
        if (!file.ends_with(ending)) continue;
        const std::string stem = file.substr(0, file.size() - std::string_view(ending).size());
        for (const char* side : {"_b.mtx", "_b.mtx.gz"}) {
            std::error_code unknown;
            if (std::filesystem::exists(stem + side, unknown)) return stem + side;
        }
    }
    return "";
}

double ratio_of(double estimated, double truly)
{
    constexpr double least = 1e-15;  // below, both are rounding errors
    return std::max(estimated, least) / std::max(truly, least);
}

Json share(Index count, Index of) { return of > 0 ? Json(static_cast<double>(count) / of) : Json(nullptr); }

/// What the truth says of x, added to what the solver said.
void judge(Json& row, const Attempt& tried, const Truth& truth)
{
    const TrueError found = true_error(truth, tried.x.of<double>());
    const Index     known = truth.known();
    if (truth.knows_norm()) {
        row["error"]["true"] = json_number(found.error);
        row["error"]["ratio"] = json_number(ratio_of(tried.accuracy.error, found.error));
    }
    if (known == 0) return;
    row["worst_error"]["true"] = json_number(found.worst_error);
    row["worst"]["true"] = found.worst;
    row["uncertain"]["true"] = found.off[0];
    for (std::size_t k = 0; k < TrueError::bounds.size(); ++k) row["off"][k] = share(found.off[k], known);
    row["wrong"] = tried.converged() && found.off[0] > 0;
    row["wrong_silently"] = tried.converged() && found.off[0] > 0 && tried.warning.empty();
}

Json seconds_json(const SolverReport& report)
{
    double analyse = 0, factor = 0, solve = 0;
    for (const Attempt& every : report.attempts) {
        analyse += every.seconds_analyse;
        factor += every.seconds_factor;
        solve += every.report.seconds.solve;
    }
    return {{"analyse", analyse}, {"factor", factor}, {"solve", solve}, {"total", report.seconds}};
}

/// One method through the systems of a path.
class MethodRun {
public:
    MethodRun(SolveOptions options, std::string_view method, Index systems) : systems_(systems)
    {
        ilux::parse_field("method", method, options.method);
        options.retry = options.retry && (systems == 1 || options.method == MethodChoice::automatic);
        reuse_x_ = options.sequence.reuse_x;
        solver_.emplace(options);
    }

    SolverReport solve(const CsrView<double>& A, std::span<const double> b)
    {
        x_.resize(b.size());
        if (!reuse_x_) std::ranges::fill(x_, 0.);
        if (!analysed_) solver_->analyse(A, systems_);
        analysed_ = true;
        return solver_->refactor_and_solve(A.val(), b, x_);
    }

private:
    std::optional<LinearSolver<>> solver_;
    std::vector<double>           x_;
    Index                         systems_;
    bool                          reuse_x_ = false, analysed_ = false;
};

/// The systems of a path, each with its truth, and the solvers that go through them.
class Measurement {
public:
    Measurement(const SolveOptions& options, const std::string& path, Index systems)
        : options_(options),
          input_(path, options.rhs),
          systems_(systems > 0 ? std::min(systems, input_.systems()) : input_.systems())
    {
        load_near_null(options_, input_.A().rows());
    }

    Json about() const { return {{"n", input_.A().rows()}, {"nnz", input_.A().nnz()}, {"rhs", input_.rhs()}}; }

    Json run(const AccuracyStep& step)
    {
        input_.read(step.system);
        if (step.what == truth_step) {
            const WallClock clock;
            find(step.system);
            return truth_json(truth_, clock.seconds());
        }
        if (step.judged && truth_of_ != step.system) find(step.system);  // an earlier process had it
        auto run = runs_.find(step.what);
        if (run == runs_.end()) run = runs_.try_emplace(step.what, options_, step.what, systems_).first;
        const SolverReport report = run->second.solve(input_.A(), input_.b());
        const bool         known = step.judged && truth_.why_not.empty();
        return method_json(step.what, report, known ? &truth_ : nullptr);
    }

private:
    void find(Index k)
    {
        truth_ = find_truth(input_.A(), input_.b(), options_.time_limit);
        truth_of_ = k;
    }

    SolveOptions                     options_;
    AccuracyInput                    input_;
    Index                            systems_;
    std::map<std::string, MethodRun> runs_;
    Truth                            truth_;
    Index                            truth_of_ = -1;
};

}  // namespace

AccuracyInput::AccuracyInput(const std::string& path, const std::string& rhs)
{
    if (path.starts_with("gallery:")) {
        problem_ = load_problem(path, rhs == "auto" ? "A1" : rhs);
        return;
    }
    const std::string side = rhs == "auto" ? side_beside(path) : "";
    series_.emplace(std::vector{path}, side.empty() ? rhs : side);
}

void AccuracyInput::read(Index k)
{
    if (series_) series_->read(k);
}

std::string AccuracyStep::text() const { return fmt::format("{}:{}{}", system, what, judged ? "" : ":unjudged"); }

AccuracyStep parse_accuracy_step(const std::string& text)
{
    AccuracyStep      step;
    const std::size_t colon = std::min(text.find(':'), text.size()),
                      end = std::min(text.find(':', colon + 1), text.size());
    parse_field("steps", text.substr(0, colon), step.system);
    step.what = colon < end ? text.substr(colon + 1, end - colon - 1) : "";
    step.judged = end == text.size();
    MethodChoice method{};
    if (step.what != truth_step) ilux::parse_field("steps", step.what, method);
    return step;
}

void leave_unjudged(const AccuracyStep& lost, std::vector<std::string>& left)
{
    if (lost.what != truth_step) return;
    for (std::string& one : left) {
        AccuracyStep step = parse_accuracy_step(one);
        if (step.system != lost.system) return;
        step.judged = false;
        one = step.text();
    }
}

Json truth_json(const Truth& truth, double seconds)
{
    Json json{{"known", truth.known()}, {"counting", truth.counting()}, {"why_not", nullptr}, {"seconds", seconds}};
    if (!truth.why_not.empty()) {
        json["why_not"] = truth.why_not;
        return json;
    }
    double correction = 0, movement = 0;
    for (std::size_t i = 0; i < truth.x.size(); ++i) {
        correction = std::max(correction, truth.correction[i]);
        movement = std::max(movement, truth.movement[i]);
    }
    json["steps"] = truth.steps;
    json["correction"] = json_number(correction / truth.largest);
    json["movement"] = json_number(movement / truth.largest);
    return json;
}

Json method_json(std::string_view method, const SolverReport& report, const Truth* truth)
{
    const Attempt& tried = report.result();
    Json           row{{"method", method},
             {"used", field_text(tried.plan.method)},
             {"precond", tried.plan.direct() ? "lu" : field_text(tried.plan.precond.kind)},
             {"action", name(tried.action)},
             {"outcome", name(report.outcome())},
             {"detail", tried.converged() ? tried.remark : report.why()},
             {"warning", tried.warning},
             {"attempts", report.attempts.size()},
             {"steps", tried.report.steps},
             {"seconds", seconds_json(report)}};
    const bool     has_x = tried.has_x() && tried.accuracy.finite;
    const Accuracy seen = has_x ? tried.accuracy : Accuracy{.relative_residual = NAN};
    const bool     estimated = !std::isnan(seen.error);
    row["relative_residual"] = json_number(seen.relative_residual);
    row["backward_error"] = json_number(seen.backward_error);
    row["rowwise"] = json_number(seen.rowwise);
    row["error"] = {{"estimated", json_number(seen.error)}, {"true", nullptr}, {"ratio", nullptr}};
    row["worst_error"] = {{"estimated", json_number(seen.worst_error)}, {"true", nullptr}};
    row["worst"] = {{"estimated", estimated ? Json(seen.worst) : Json(nullptr)}, {"true", nullptr}};
    row["uncertain"] = {{"estimated", estimated ? Json(seen.uncertain) : Json(nullptr)}, {"true", nullptr}};
    row["off"] = Json::array({nullptr, nullptr, nullptr});
    row["wrong"] = nullptr;
    row["wrong_silently"] = nullptr;
    if (has_x && truth != nullptr) judge(row, tried, *truth);
    return row;
}

void measure_accuracy(const SolveOptions& options, const std::string& path, Index systems,
                      const std::vector<std::string>& steps, const TakeJson& take)
{
    std::optional<Measurement> measurement;
    const std::string          why = failure_of([&] { measurement.emplace(options, path, systems); });
    if (!why.empty()) return take({{"error", why}});
    take({{"matrix", measurement->about()}});
    run_steps(
        steps, [&](const std::string& step) { return measurement->run(parse_accuracy_step(step)); }, take);
}

}  // namespace ilux::app
