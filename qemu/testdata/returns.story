# Return probes and jprobes, after Linux's samples/kprobes.

NAME a return probe tells what a function returned and how long it took
RUN echo hello > /tmp/x
RUN insmod kretprobe_example
RUN cat /tmp/x
RUN rmmod kretprobe_example
RUN dmesg
EXPECT Planted return probe at 0x[0-9a-f]+$
EXPECT sonde/kernel/vfs\.Read returns 6 and took \d+ ns to execute$
EXPECT sonde/kernel/vfs\.Read returns 0 and took \d+ ns to execute$
EXPECT kretprobe unregistered$
EXPECT Missed probing 0 instances of sonde/kernel/vfs\.Read$

NAME a return probe on four processors of microvm
RUN echo hello > /tmp/x
RUN dmesg -C
RUN insmod kretprobe_example
RUN cat /tmp/x /tmp/x /tmp/x /tmp/x /tmp/x > /dev/null
RUN rmmod kretprobe_example
RUN dmesg | grep -c returns
MACHINE microvm
SMP 4
EXPECT ^10$

NAME a jprobe sees the arguments
RUN insmod jprobe_example
RUN cat /proc/version
RUN rmmod jprobe_example
RUN dmesg
EXPECT ^sonde version
EXPECT Planted jprobe at 0x[0-9a-f]+, handler addr
EXPECT jprobe: file=0x[0-9a-f]+, buf=0x[0-9a-f]+, len=32768$
EXPECT jprobe unregistered$

NAME three kinds of probes share a function
RUN dmesg -C
RUN insmod kprobe_example; insmod kretprobe_example; insmod jprobe_example
RUN cat /proc/version
RUN rmmod jprobe_example; rmmod kretprobe_example; rmmod kprobe_example
RUN dmesg | grep -c pre_handler
RUN dmesg | grep -c returns
RUN dmesg | grep -c jprobe:
EXPECT ^sonde version
EXPECT ^2$
EXPECT ^2$
EXPECT ^2$

NAME a return probe where panics read their return address leaves them alone
RUN insmod kretprobe_example func=runtime.gopanic
RUN crash nil-recover; echo status $?
RUN rmmod kretprobe_example
RUN insmod kretprobe_example func=runtime.deferreturn
RUN crash nil-recover; echo status $?
RUN rmmod kretprobe_example; echo alive
EXPECT ^status 0$
EXPECT ^status 0$
EXPECT ^alive$

NAME a return probe on a function that uses its return address otherwise is refused
RUN insmod kretprobe_example func=runtime.debugCallV2
EXPECT ^insmod: .*runtime\.debugCallV2 uses its own return address, which a return probe replaces \(at \+0x[0-9a-f]+\)
STATUS 1

NAME a return probe on nothing is refused
RUN insmod kretprobe_example func=no.such
EXPECT ^insmod: kretprobe_example: there is no symbol no\.such
EXPECT_NOT ^[^i]
STATUS 1

NAME a module that is refused says so in the log
RUN insmod kretprobe_example func=no.such
RUN dmesg
EXPECT register_kretprobe failed, returned -2$
