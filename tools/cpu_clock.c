/* Lets a program that asks for the monotonic time have the processor's time of its process instead: seconds that it prints about
   itself then mean the same on a busy machine.

       cc -O2 -shared -fPIC -o cpu_clock.so tools/cpu_clock.c
       LD_PRELOAD=$PWD/cpu_clock.so program */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* t)
{
    return (int)syscall(SYS_clock_gettime, clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : clock, t);
}
