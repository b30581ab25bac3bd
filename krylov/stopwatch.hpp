#pragma once
// Seconds spent on the parts of a solve.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/wall_clock.hpp"

namespace ilux {

/// Adds the wall time of its scope to `total`.
class Stopwatch {
public:
    explicit Stopwatch(double& total) : total_(total) {}
    ~Stopwatch() { total_ += clock_.seconds(); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    double&   total_;
    WallClock clock_;
};

/// Times parts of what a backend does: `const auto t = timeline.measure(seconds.spmv);` for a scope. The totals are
/// complete after settle().
template <Backend B>
class Timeline {
public:
    explicit Timeline(B&) {}
    Stopwatch measure(double& total) { return Stopwatch(total); }
    void      settle() {}
};

/// On a device a call returns before its work is done, so it is events in the stream that are timed, and no scope
/// waits: settle() does. Seconds are those during which the stream was at the part, waits for the host's launches
/// included.
template <>
class Timeline<Gpu> {
public:
    explicit Timeline(Gpu& gpu) : gpu_(gpu) {}
    ~Timeline() { detail::forget_timings(gpu_, this); }
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    class Part {
    public:
        Part(Gpu& gpu, const Timeline* owner, double& total)
            : gpu_(gpu), piece_(detail::begin_timing(gpu, owner, &total))
        {}
        ~Part() { detail::end_timing(gpu_, piece_); }
        Part(const Part&) = delete;
        Part& operator=(const Part&) = delete;

    private:
        Gpu& gpu_;
        int  piece_;
    };
    Part measure(double& total) { return Part(gpu_, this, total); }
    void settle() { detail::collect_timings(gpu_, this); }

private:
    Gpu& gpu_;
};

}  // namespace ilux
