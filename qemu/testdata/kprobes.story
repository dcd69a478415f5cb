# The first probe: kprobe_example, after Linux's samples/kprobes. Stories that count
# lines of the log begin with dmesg -C: their own text is in it, as the command line.

NAME a probe on the default function shows every hit
RUN insmod kprobe_example
RUN cat /proc/version
RUN rmmod kprobe_example
RUN dmesg
EXPECT ^sonde version
EXPECT kprobe registered: sonde/kernel/vfs\.Read\+0x0 at 0x[0-9a-f]+$
EXPECT pre_handler: p->addr=0x[0-9a-f]+, ip=[0-9a-f]+, flags=0x[0-9a-f]+$
EXPECT CPU: \d+ goroutine: \d+$
EXPECT Call Trace:$
EXPECT \]  sonde/kernel/vfs\.Read\+0x[0-9a-f]+/0x[0-9a-f]+  kernel/vfs/io\.go:\d+$
EXPECT \]  sonde/kernel/vfs\.\(\*File\)\.Read\+0x
EXPECT \]  sonde/shell/coreutils\.printFiles\+0x
EXPECT post_handler: p->addr=0x[0-9a-f]+, ip=[0-9a-f]+, flags=0x[0-9a-f]+$
EXPECT kprobe unregistered$

NAME the console shows hits as they happen
RUN insmod kprobe_example
RUN cat /proc/version
RUN rmmod kprobe_example
SMP 2
EXPECT_LOG pre_handler: 
EXPECT_LOG post_handler: 
EXPECT_LOG kprobe unregistered

NAME two calls are two hits
RUN dmesg -C
RUN insmod kprobe_example
RUN cat /proc/version
RUN rmmod kprobe_example
RUN dmesg | grep -c pre_handler
RUN dmesg | grep -c post_handler
EXPECT ^2$
EXPECT ^2$

NAME many calls are as many hits on four processors
RUN dmesg -C
RUN echo x > /tmp/x
RUN insmod kprobe_example
RUN cat /tmp/x /tmp/x /tmp/x /tmp/x /tmp/x /tmp/x /tmp/x /tmp/x /tmp/x /tmp/x > /tmp/y
RUN rmmod kprobe_example
RUN dmesg | grep -c pre_handler
RUN wc -l < /tmp/y
SMP 4
EXPECT ^20$
EXPECT ^10$

NAME nothing is hit after rmmod
RUN insmod kprobe_example
RUN rmmod kprobe_example
RUN dmesg -C
RUN cat /proc/version
RUN dmesg
EXPECT ^sonde version
EXPECT_NOT handler

NAME a probe can come and go again
RUN dmesg -C
RUN insmod kprobe_example
RUN cat /proc/version; rmmod kprobe_example; insmod kprobe_example
RUN cat /proc/version; rmmod kprobe_example
RUN dmesg | grep -c kprobe
RUN dmesg | grep -c pre_handler
EXPECT ^sonde version
EXPECT ^sonde version
EXPECT ^4$
EXPECT ^4$

NAME the short form of a name is enough
RUN dmesg -C
RUN insmod kprobe_example symbol=vfs.Open
RUN cat /proc/version
RUN rmmod kprobe_example
RUN dmesg | grep -c pre_handler
EXPECT ^1$

NAME without a post-handler only the first is called
RUN insmod kprobe_example post=0
RUN cat /proc/version
RUN rmmod kprobe_example
RUN dmesg
EXPECT pre_handler
EXPECT_NOT post_handler

NAME a probe on microvm with four processors
RUN dmesg -C
RUN insmod kprobe_example
RUN cat /proc/version
RUN rmmod kprobe_example
RUN dmesg | grep -c post_handler
MACHINE microvm
SMP 4
EXPECT ^2$

NAME a symbol that is not there is one clear error
RUN insmod kprobe_example symbol=no.such
EXPECT ^insmod: kprobe_example: there is no symbol no\.such
EXPECT_NOT ^[^i]
STATUS 1

NAME a slip of the finger gets near names
RUN insmod kprobe_example symbol=vfs.Raed
EXPECT did you mean .*sonde/kernel/vfs\.Read
EXPECT_NOT ^[^i]
STATUS 1

NAME a refused probe changes nothing
RUN dmesg -C
RUN insmod kprobe_example symbol=no.such
RUN insmod kprobe_example symbol=vfs.Read offset=1
RUN insmod kprobe_example symbol=kprobes.onBreakpoint
RUN cat /proc/modules
RUN dmesg
RUN insmod kprobe_example && cat /proc/version && rmmod kprobe_example
RUN dmesg | grep -c pre_handler
EXPECT ^sonde version
EXPECT ^2$
EXPECT_NOT Live
EXPECT_NOT registered

NAME the middle of an instruction is refused
RUN insmod kprobe_example symbol=vfs.Read offset=1
EXPECT ^insmod: kprobe_example: .*sonde/kernel/vfs\.Read\+0x1 is inside an instruction
EXPECT_NOT ^[^i]
STATUS 1

NAME an offset behind the function is refused
RUN insmod kprobe_example symbol=vfs.Read offset=0x100000
EXPECT ^insmod: kprobe_example: .*offset 0x[0-9a-f]+ is beyond the end of sonde/kernel/vfs\.Read, which has 0x[0-9a-f]+ bytes
EXPECT_NOT ^[^i]
STATUS 1

NAME an ambiguous name is refused with those that fit
RUN insmod kprobe_example symbol=link.Provider.Can
EXPECT ^insmod: kprobe_example: .*ambiguous symbol \S+: 2 symbols fit: sonde/[ku]probes/link\.Provider\.Can \(0x[0-9a-f]+\), sonde/[ku]probes/link\.Provider\.Can \(0x
STATUS 1

NAME data is refused
RUN insmod kprobe_example symbol=kprobes.states
EXPECT ^insmod: kprobe_example: .*sonde/kprobes\.states is data
STATUS 1

NAME what handles breakpoints is refused with the reason
RUN insmod kprobe_example symbol=kprobes.onBreakpoint
EXPECT ^insmod: kprobe_example: .*sonde/kprobes\.onBreakpoint may not be probed: it handles traps
EXPECT_NOT ^[^i]
STATUS 1

NAME what breakpoints call is refused with the reason
RUN insmod kprobe_example symbol=kernel/notifier.(*Chain).Walk
EXPECT ^insmod: kprobe_example: .*sonde/kernel/notifier\.\(\*Chain\)\.Walk may not be probed: .
EXPECT_NOT ^[^i]
STATUS 1

NAME an unexpected int3 does not disturb a probe
RUN insmod kprobe_example
RUN crash int3
RUN cat /proc/version
RUN rmmod kprobe_example
RUN dmesg
EXPECT unexpected int3 at .*$
EXPECT pre_handler
EXPECT post_handler
EXPECT kprobe unregistered$

NAME a probe on what the console itself uses comes to an end
RUN insmod kprobe_example symbol=runtime.memmove
RUN rmmod kprobe_example
RUN echo done
EXPECT ^done$
EXPECT_LOG printk messages dropped
EXPECT_LOG kprobe unregistered
