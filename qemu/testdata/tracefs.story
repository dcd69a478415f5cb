# Linux's tracing files, as scripts and people use them.

NAME a line makes an event, which records what it says
RUN cd /sys/kernel/tracing; echo 'p:mine vfs_read n=%dx comm=$comm' > kprobe_events; echo 'r:back vfs_read $retval' >> kprobe_events; cat kprobe_events; echo 1 > events/kprobes/enable; /bin/cat /proc/uptime; echo 0 > events/kprobes/enable; grep cat- trace; grep mine kprobe_profile
EXPECT ^p:kprobes/mine vfs_read n=%dx comm=\$comm$
EXPECT ^r:kprobes/back vfs_read arg1=\$retval$
EXPECT ^ +cat-\d+ +\[\d{3}\] \.{5} +\d+\.\d{6}: mine: \(vfs_read\+0x0/0x[0-9a-f]+\) n=0x[0-9a-f]+ comm="cat"$
EXPECT ^ +cat-\d+ +\[\d{3}\] \.{5} +\d+\.\d{6}: back: \(\w+\+0x[0-9a-f]+/0x[0-9a-f]+ <- vfs_read\) arg1=0x0$
EXPECT ^  mine +[3-9]\d* +0$

NAME an event that is enabled stays, and a filter leaves hits out
RUN cd /sys/kernel/tracing; echo 'n == 0x8000 && comm ~ "c?t"' > events/kprobes/mine/filter; echo 1 > events/kprobes/mine/enable; echo > trace; echo > kprobe_events; /bin/cat /proc/uptime; grep -c 'mine: .* n=0x8000 ' trace; grep mine: trace | grep -vc n=0x8000; echo 0 > events/kprobes/enable; echo > kprobe_events; cat kprobe_events; ls events
EXPECT event kprobes:mine is enabled$
EXPECT ^2$
EXPECT ^0$
EXPECT_NOT ^kprobes

NAME a mistake is shown where it is
RUN cd /sys/kernel/tracing; echo 'p vfs_reed' > kprobe_events; cat error_log; ls events/kprobes
EXPECT ^\[ +\d+\.\d{6}\] trace_kprobe: error: Invalid probed address or symbol$
EXPECT ^  Command: p vfs_reed$
EXPECT ^             \^$
EXPECT no such file
STATUS 1

NAME tracepoints, calls, programs and texts are in one trace, by time
RUN cd /sys/kernel/debug/tracing; echo > trace; echo 'p:main /bin/cat:0x1000' > uprobe_events; cat uprobe_events; echo > uprobe_events; echo sched:sched_process_exec syscalls:sys_enter_close > set_event; cat set_event; echo begin > trace_marker; /bin/cat /proc/uptime; echo > set_event; grep -v '#' trace; echo > trace; grep -c begin trace
EXPECT ^p:uprobes/main /bin/cat:0x1000$
EXPECT ^sched:sched_process_exec$
EXPECT ^syscalls:sys_enter_close$
EXPECT : tracing_mark_write: begin$
EXPECT : sched_process_exec: filename=/bin/cat pid=\d+ old_pid=\d+$
EXPECT : sys_close\(fd: [0-9a-f]+\)$
EXPECT ^0$
STATUS 1

NAME an instance has records of its own
RUN cd /sys/kernel/tracing/instances; mkdir one; echo 1 > one/events/sched/sched_process_exec/enable; /bin/cat /proc/uptime; grep -c sched_process_exec one/trace; grep -c sched_process_exec ../trace; echo 0 > one/events/enable; bpf prog
EXPECT ^[1-9]\d*$
EXPECT ^0$
EXPECT_NOT sched_process
