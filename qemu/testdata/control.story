# /sys/kernel/debug/kprobes, the control files of kprobes.txt, appendix A.

NAME the control files are there
RUN ls /sys/kernel/debug/kprobes
EXPECT ^blacklist$
EXPECT ^enabled$
EXPECT ^list$

NAME list shows a line per probe
RUN cat /sys/kernel/debug/kprobes/list
RUN insmod kprobe_example; insmod kretprobe_example
RUN cat /sys/kernel/debug/kprobes/list
EXPECT ^[0-9a-f]{16}  k  sonde/kernel/vfs\.Read\+0x0$
EXPECT ^[0-9a-f]{16}  r  sonde/kernel/vfs\.Read\+0x0$

NAME list is empty without probes
RUN insmod kprobe_example; rmmod kprobe_example
RUN cat /sys/kernel/debug/kprobes/list
EXPECT_NOT .
ALONE others leave their module

NAME every hit is accounted for
RUN insmod kprobe_example
RUN cat /proc/version > /tmp/x
RUN cat /sys/kernel/debug/kprobes/stats
EXPECT ^address +t +entered +handled .* unexplained +symbol$
EXPECT ^[0-9a-f]{16}  k +[23] +[23] +0 +0 .* 0  sonde/kernel/vfs\.Read\+0x0$

NAME probes can be switched off and on
RUN insmod kprobe_example
RUN echo 0 > /sys/kernel/debug/kprobes/enabled; cat /sys/kernel/debug/kprobes/enabled
RUN dmesg -C; cat /proc/version; dmesg
RUN echo 1 > /sys/kernel/debug/kprobes/enabled; cat /proc/cmdline > /tmp/x; dmesg
EXPECT ^0$
EXPECT ^sonde version
EXPECT pre_handler

NAME enabled takes only 0 and 1
RUN echo maybe > /sys/kernel/debug/kprobes/enabled
EXPECT ^echo: /sys/kernel/debug/kprobes/enabled: write error: .*: write 0 or 1
STATUS 1

NAME the list cannot be written
RUN echo x > /sys/kernel/debug/kprobes/list
EXPECT ^echo: /sys/kernel/debug/kprobes/list: this file can only be read$
STATUS 1

NAME blacklist names what may not be probed
RUN cat /sys/kernel/debug/kprobes/blacklist
RUN cat /sys/kernel/debug/kprobes/blacklist_reasons
EXPECT ^0x[0-9a-f]{16}-0x[0-9a-f]{16}\tsonde/arch/amd64/insn\.CondTrue$
EXPECT ^sonde/arch/amd64/insn\.CondTrue\tit handles traps: trap\.known -> kprobes\.onBreakpoint -> .* -> insn\.CondTrue$
EXPECT_NOT sonde/kernel/vfs

NAME a refused probe names the calls that lead there
RUN insmod kprobe_example symbol=insn.CondTrue
EXPECT insn\.CondTrue may not be probed: it handles traps: trap\.known -> .* -> insn\.CondTrue$
STATUS 1
ALONE others leave their module

NAME explain names the calls that keep probes away
RUN explain insn.CondTrue
EXPECT ^explain: .* may not be probed: it handles traps: trap\.(known|entryDB) -> .* -> insn\.CondTrue$
STATUS 1

NAME a refusal repeats the beginning of what was written
RUN cat /bin/box > /sys/kernel/debug/kprobes/enabled
RUN cat /bin/box > /sys/kernel/debug/uprobes/enabled
STATUS 1
EXPECT ^.*"\\x7fELF.{0,300}"… \(\d+ bytes\): write 0 or 1$
EXPECT ^.*"\\x7fELF.{0,300}"… \(\d+ bytes\): write 0 or 1$
