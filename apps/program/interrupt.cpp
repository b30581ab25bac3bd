#include "ilux/apps/program/interrupt.hpp"

#include <csignal>

namespace ilux::app {
namespace {

/// Made before a handler is there that uses it; never destroyed, for a signal may come at any time.
StopSource& signalled()
{
    static auto& source = *new StopSource;
    return source;
}

extern "C" void ilux_stop_on_signal(int) { signalled().request_stop(); }

void catch_signal(int signal)
{
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = ilux_stop_on_signal;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

}  // namespace

StopToken signal_token() { return signalled().token(); }

StopToken stop_on_signals()
{
    StopToken stop = signal_token();
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    return stop;
}

}  // namespace ilux::app
