sonde# sysctl -a | grep -v random | grep -v file-nr
debug.kprobes-optimization = 1
fs.file-max = 65536
fs.inotify.max_queued_events = 16384
fs.inotify.max_user_instances = 128
fs.inotify.max_user_watches = 65536
fs.lease-break-time = 45
fs.nr_open = 1048576
fs.pipe-max-size = 1048576
fs.pipe-user-pages-soft = 4096
kernel.bpf_memory = 67108864
kernel.bpf_unsafe = 0
kernel.cap_last_cap = 40
kernel.core_pattern = core
kernel.core_uses_pid = 0
kernel.domainname = (none)
kernel.hostname = sonde
kernel.kptr_restrict = 0
kernel.osrelease = 6.1.0-sonde
kernel.ostype = Linux
kernel.panic = 5
kernel.perf_event_max_sample_rate = 100000
kernel.perf_event_paranoid = 2
kernel.pid_max = 4194304
kernel.sched_rr_timeslice_ms = 100
kernel.tainted = 0
kernel.unprivileged_bpf_disabled = 2
kernel.version = 
sonde# sysctl -w debug.kprobes_optimization=n
debug.kprobes-optimization = 0
sonde# cat /proc/sys/debug/kprobes-optimization
0
sonde# echo 1 > /proc/sys/debug/kprobes-optimization; sysctl debug.kprobes-optimization
debug.kprobes-optimization = 1
sonde# echo maybe > /proc/sys/debug/kprobes-optimization
echo: /proc/sys/debug/kprobes-optimization: write error: sysctl: set debug.kprobes-optimization to "maybe": not 0, 1, n or y
(status 1)
sonde# sysctl kernel.panic=100
sysctl: set kernel.panic to "100": not from 0 to 60
(status 1)
sonde# sysctl kernel/panic=10 kernel.panic; sysctl -n kernel.panic; sysctl -d kernel.panic
kernel.panic = 10
kernel.panic = 10
10
kernel.panic: Seconds from a panic to a reboot. (default 5)
sonde# sysctl kernel.panic=5 | grep 5
kernel.panic = 5
sonde# sysctl kernel.pan
sysctl: there is no parameter kernel.pan (did you mean kernel.panic?)
(status 1)
sonde# sysctl
sysctl: no name given
usage: sysctl [-adnw] [name | name=value...]
(status 2)
sonde# sysctl -w kernel.panic
sysctl: -w needs name=value, not "kernel.panic"
usage: sysctl [-adnw] [name | name=value...]
(status 2)
