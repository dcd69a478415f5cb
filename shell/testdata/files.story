sonde# ls
proc
sys
tmp
sonde# echo hi > /tmp/x; cat /tmp/x
hi
sonde# echo again >> /tmp/x; cat /tmp/x /tmp/x | wc
4 4 18
sonde# echo -n no newline > /tmp/y; wc -c /tmp/y
10 /tmp/y
sonde# mkdir /tmp/d && ls /tmp
d
x
y
sonde# ls -l /proc/version /sys/kernel/debug/kprobes/enabled /proc/sys/kernel
-r--r--r--        0                - /proc/version
--w-------        0                - /sys/kernel/debug/kprobes/enabled

/proc/sys/kernel:
-rw-r--r--        0                - bpf_memory
-rw-r--r--        0                - bpf_unsafe
-r--r--r--        0                - cap_last_cap
-rw-r--r--        0                - core_pattern
-rw-r--r--        0                - core_uses_pid
-rw-r--r--        0                - domainname
-rw-r--r--        0                - hostname
-r--r--r--        0                - kptr_restrict
-r--r--r--        0                - osrelease
-r--r--r--        0                - ostype
-rw-r--r--        0                - panic
-rw-r--r--        0                - perf_event_max_sample_rate
-r--r--r--        0                - perf_event_paranoid
-rw-r--r--        0                - pid_max
dr-xr-xr-x        0                - random
-r--r--r--        0                - randomize_va_space
-r--r--r--        0                - sched_rr_timeslice_ms
-r--r--r--        0                - tainted
-r--r--r--        0                - unprivileged_bpf_disabled
-r--r--r--        0                - version
sonde# ls -ld /tmp | grep -c drwxrwxrwt
1
sonde# ls /nope /tmp/x
/tmp/x
ls: /nope: no such file or directory
(status 1)
sonde# cat /nope /proc/version | head -1
cat: /nope: no such file or directory
sonde version test
sonde# cat /tmp
cat: /tmp: is a directory
(status 1)
sonde# cat /sys/kernel/debug/kprobes/enabled
cat: /sys/kernel/debug/kprobes/enabled: this file can only be written
(status 1)
sonde# echo 1 > /proc/version
echo: /proc/version: this file can only be read
(status 1)
sonde# echo 1 > /proc/new
echo: /proc/new: only the kernel makes and removes names in this directory
(status 1)
sonde# echo 2 > /sys/kernel/debug/kprobes/enabled
echo: /sys/kernel/debug/kprobes/enabled: write error: invalid argument
(status 1)
sonde# mkdir /tmp/d
mkdir: /tmp/d: file exists
(status 1)
sonde# echo a > /tmp/d/f; rm /tmp/d
rm: /tmp/d: directory not empty
(status 1)
sonde# rm /tmp/d/f /tmp/d /tmp/x /tmp/y; ls /tmp
sonde# rm /proc/version
rm: /proc/version: only the kernel makes and removes names in this directory
(status 1)
sonde# cat /proc/uptime ../proc/./version
12300.00 18000.00
sonde version test
sonde# rm -f /tmp/none /tmp/nowhere/none && rm -f && rm /tmp/none
rm: /tmp/none: no such file or directory
(status 1)
sonde# echo > /tmp/some; rm -f /tmp/some /tmp/none; ls /tmp
sonde# rm -f /proc/version
rm: /proc/version: only the kernel makes and removes names in this directory
(status 1)
sonde# mkdir -p /tmp/p/q/r /tmp/p && mkdir -p /tmp/p/q && ls /tmp/p/q
r
sonde# echo > /tmp/p/f; mkdir -p /tmp/p/f/g
mkdir: /tmp/p/f/g: not a directory
(status 1)
sonde# rm /tmp/p/f; rm /tmp/p/q/r /tmp/p/q /tmp/p
