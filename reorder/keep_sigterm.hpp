#pragma once
// METIS takes SIGTERM while it works, and jumps out of its depths by a handler that ends the program on any other
// thread.

#include <atomic>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

namespace ilux::detail {

/// Keeps the program's own way with SIGTERM while it lives: what another sets is put back within milliseconds, once.
/// METIS sets its handler at the beginning of a call, and puts the former one back itself at the end.
class KeepSigterm {
public:
    KeepSigterm()
    {
        sigaction(SIGTERM, nullptr, &own_);
        try {
            watch_ = std::thread([this] { watch(); });
        } catch (const std::system_error&) {  // without a thread METIS has its way
        }
    }
    ~KeepSigterm()
    {
        over_ = true;
        if (watch_.joinable()) watch_.join();
    }
    KeepSigterm(const KeepSigterm&) = delete;
    KeepSigterm& operator=(const KeepSigterm&) = delete;

private:
    void watch() const
    {
        for (struct sigaction now{}; !over_; std::this_thread::sleep_for(std::chrono::microseconds(200))) {
            sigaction(SIGTERM, nullptr, &now);
            if (now.sa_handler == own_.sa_handler) continue;
            sigaction(SIGTERM, &own_, nullptr);
            return;
        }
    }

    struct sigaction  own_ {};
    std::atomic<bool> over_ = false;
    std::thread       watch_;
};

}  // namespace ilux::detail
