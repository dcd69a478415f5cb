# Scripts in bpftrace's language, at the prompt: the one-liners of docs/one-liners.md, and mistakes.

NAME a script says something and ends
RUN bt -e 'BEGIN { printf("hello world\n"); exit(); }'
EXPECT ^Attached 1 probe$
EXPECT ^hello world$

NAME a script with nothing but BEGIN and END ends by itself
RUN bt -q -e 'BEGIN { @ = 5 } END { printf("over\n") }'
EXPECT ^over$
EXPECT ^@: 5$

NAME in its own probes, bt is a process like another
RUN bt -q -e 'BEGIN { printf("%s %d\n", comm, pid == tid && pid > 0); @p = pid; } interval:ms:1 { exit(); } END { printf("%s %d\n", comm, pid == @p); clear(@p); }'
EXPECT ^bt 1$
EXPECT_NOT 0$

NAME calls are counted by who makes them
RUN bt -e 'kprobe:vfs.Read { @[comm] = count(); } i:s:20 { exit(); }' -c '/bin/cat /proc/uptime; /bin/cat /proc/uptime'
EXPECT ^Attached 2 probes$
EXPECT ^@\[cat\]: 6$

NAME a write that waits is one call, as a read is
RUN bt -q -e 'BEGIN { @hits = sum(1); } kprobe:vfs.Write /comm == "cat"/ { @hits = sum(1); } t:syscalls:sys_enter_write /comm == "cat"/ { @hits = sum(-1); @calls = count(); }' -c '/bin/cat /bin/box | (sleep 0.3; /bin/wc -c)'
EXPECT ^@calls: \d{3}$
EXPECT ^@hits: 1$

NAME results and times become histograms
RUN bt -e 'kretprobe:vfs_read { @bytes = lhist(retval, 0, 2000, 200); }' -c '/bin/cat /proc/uptime'
EXPECT ^@bytes:$
EXPECT ^\[0, 200\) +3 \|@{52}\|$
RUN bt -e 'kprobe:vfs_read { @s[tid] = nsecs; } kretprobe:vfs_read /@s[tid]/ { @ns[comm] = hist(nsecs - @s[tid]); delete(@s, tid); }' -c '/bin/cat /proc/uptime'
EXPECT ^@ns\[cat\]:$
EXPECT_NOT ^@s\[
EXPECT ^\[\d+[KM]?, \d+[KM]?\) +[12] \|@+ *\|$

NAME system calls have arguments with names
RUN bt -e 'tracepoint:syscalls:sys_enter_openat { printf("%s %s\n", comm, str(args.filename)); }' -c '/bin/cat /proc/uptime'
EXPECT ^cat /proc/uptime$
RUN bt -q -e 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }' -c '/bin/cat /proc/uptime'
EXPECT ^@\[cat\]: \d+$

NAME the arguments of system calls have Linux's names, and are known by the manual's
RUN bt -q -e 't:syscalls:sys_enter_openat { printf("%d %d %s %s\n", args.dfd, args.dirfd == args.dfd, str(args.filename), str(args.pathname)); }' -c '/bin/cat /proc/uptime'
EXPECT ^-100 1 /proc/uptime /proc/uptime$
RUN bt -q -e 't:syscalls:sys_enter_mkdir* { printf("%s %o %d\n", str(args.filename), args.mode, args.pathname == args.filename); }' -c '/bin/mkdir /tmp/aliased'
EXPECT ^/tmp/aliased 777 1$
RUN bt -lv 't:syscalls:sys_enter_nanosleep'; bt -lv 't:syscalls:sys_enter_getgroups'; cat /sys/kernel/tracing/events/syscalls/sys_enter_mmap/format
EXPECT ^tracepoint:syscalls:sys_enter_nanosleep$
EXPECT ^    int __syscall_nr$
EXPECT ^    struct __kernel_timespec \* rqtp$
EXPECT ^    struct __kernel_timespec \* rmtp$
EXPECT ^tracepoint:syscalls:sys_enter_getgroups$
EXPECT ^    int __syscall_nr$
EXPECT ^    int gidsetsize$
EXPECT ^    gid_t \* grouplist$
EXPECT ^name: sys_enter_mmap$
EXPECT field:unsigned long len;\toffset:24;\tsize:8;\tsigned:0;$
EXPECT ^print fmt: "addr: 0x%08lx, len: 0x%08lx, prot: 0x%08lx, flags: 0x%08lx, fd: 0x%08lx, off: 0x%08lx", \(\(unsigned long\)\(REC->addr\)\), 

NAME a pattern of system calls fits what begins them and what ends them
RUN bt -e 'tracepoint:syscalls:sys_*_openat { @[probe] = count(); }' -c '/bin/cat /proc/uptime'
EXPECT ^Attached 2 probes$
EXPECT ^@\[tracepoint:syscalls:sys_enter_openat\]: [1-9]\d*$
EXPECT ^@\[tracepoint:syscalls:sys_exit_openat\]: [1-9]\d*$
RUN bt -q -e 't:syscalls:sys_enter_*at { printf("%s %s\n", probe, str(args.filename)); }' -c '/bin/cat /proc/uptime'
EXPECT ERROR: tracepoint:syscalls:sys_enter_[a-z]+ has no argument filename$
RUN bt -q -e 't:syscalls:sys_enter_o*at { printf("%s %s\n", probe, str(args.filename)); }' -c '/bin/cat /proc/uptime'
EXPECT ^tracepoint:syscalls:sys_enter_openat /proc/uptime$
RUN bt -q -e 't:*:sys_* { @all[probe] = count(); }' -c '/bin/cat /proc/uptime'
EXPECT ^@all\[tracepoint:syscalls:sys_exit_openat\]: [1-9]\d*$
EXPECT ^@all\[tracepoint:raw_syscalls:sys_exit\]: \d+$

NAME functions of programs
RUN bt -e 'uprobe:/bin/cat:syscall.write { @[comm] = count(); } uretprobe:/bin/cat:syscall.write { @r = stats(retval); }' -c '/bin/cat /proc/uptime'
EXPECT ^Attached 2 probes$
EXPECT ^@\[cat\]: 1$
EXPECT ^@r: \{ \.count = 1, \.average = \d+, \.total = \d+ \}$

NAME what a program writes
RUN bt -q -e 'uprobe:/bin/cat:syscall.write /pid > 1/ { printf("%d wrote %s", arg0, str(arg1, arg2)); }' -c '/bin/cat /proc/version'
EXPECT ^1 wrote .*sonde

NAME all copies of a function that was inlined
RUN bt -e 'inline:sync.(*Mutex).Lock { @ = count(); }' -c '/bin/cat /proc/uptime'
EXPECT ^bt: inline:sync\.\(\*Mutex\)\.Lock: \d+ of \d+ copies
EXPECT ^Attached \d+ probes$
EXPECT ^@: \d+$

NAME stacks are keys
RUN bt -e 'kprobe:vfs.Write { @[kstack(3)] = count(); }' -c 'echo 1 > /dev/null'
EXPECT ^@\[$
EXPECT ^ {4}vfs\.Write\+\d+$
EXPECT ^ {4}shell\.\(\*pieceWriter\)\.flush\+\d+$
EXPECT ^\]: 1$
RUN bt -e 'profile:hz:99 /comm == "sh"/ { @[kstack(3), comm] = count(); }' -c '/bin/sh -c "i=0; while [ \$i -lt 20000 ]; do i=\$((i+1)); done"'
EXPECT ^ {4}user\.\(\*Context\)\.Run\+\d+$
EXPECT ^, sh\]: \d+$
RUN bt -e 'uprobe:/bin/cat:syscall.write { @[comm, ustack(2)] = count(); }' -c '/bin/cat /proc/uptime'
EXPECT ^@\[cat, $
EXPECT ^ {4}syscall\.write\+\d+$
EXPECT ^ {4}internal/poll\.\(\*FD\)\.Write\+\d+$
EXPECT ^\]: 1$

NAME a stack has so many calls
RUN bt -q -e 'kprobe:vfs.Write { @three = max(len(kstack(3))); @all = max(len(kstack)); } uprobe:/bin/cat:syscall.write { $s = ustack(2); @user[len($s), len(ustack(1)), len(kstack)] = count(); }' -c '/bin/cat /proc/uptime'
EXPECT ^@all: [1-9]\d*$
EXPECT ^@three: 3$
EXPECT ^@user\[2, 1, 0\]: 1$

NAME what the collector does
RUN bt -e 'kprobe:runtime.mallocgc { @[gcphase] = hist(args.size); } interval:ms:300 { exit(); }'
EXPECT ^@\[0\]:$
EXPECT ^\[\d+, \d+\) +\d+ \|@*

NAME tracepoints have their fields
RUN bt -q -e 'tracepoint:sched:sched_switch { @[args.next_comm] = count(); }' -c '/bin/cat /proc/uptime'
EXPECT ^@\[cat\]: [1-9]\d*$
RUN bt -q -e 'tracepoint:raw_syscalls:sys_enter { @in[args.id] = count(); @first = max(args.args[0]); } tracepoint:raw_syscalls:sys_exit { @out[args.name, args.id] = count(); } tracepoint:syscalls:sys_exit_getpid { @nr = max(args.__syscall_nr); @own = max(args.common_pid == tid); }' -c '/bin/myprog -n 3 > /dev/null'
EXPECT ^@in\[231\]: 1$
EXPECT ^@out\[openat, 257\]: [1-9]
RUN bt -q -e 'tracepoint:sched:sched_process_exec { printf("%s %d\n", args.filename, args.pid); }' -c '/bin/cat /proc/uptime'
EXPECT ^/bin/cat [1-9]\d*$
RUN bt -e 'tracepoint:go:* { @[probe] = count(); } i:ms:300 { exit(); }'
EXPECT ^Attached 10 probes$
EXPECT ^@\[tracepoint:go:park\]: [1-9]\d*$
RUN bt -e 'tracepoint:sched:sched_swich { }'
EXPECT ^HINT: did you mean sched:sched_switch\?$
STATUS 1

NAME a thread that leaves its CPU is the one of whom sched_switch tells, and how long it was away is known
RUN bt -q -e 'tracepoint:sched:sched_switch { @same[tid == args.prev_pid, comm == args.prev_comm, goid == args.prev_goid] = count(); } tracepoint:sched:sched_switch /comm == "sleep" && args.prev_state == 1/ { @since[tid] = nsecs; @stack[tid] = (kstack, ustack); } tracepoint:sched:sched_switch /@since[args.next_pid]/ { $ms = (nsecs - @since[args.next_pid]) / 1000000; if ($ms >= 300) { @long[args.next_comm, @stack[args.next_pid]] = max($ms); @most = max($ms); } delete(@since, args.next_pid); } BEGIN { @began = nsecs; } END { printf("%d\n", @most >= 300 && @most <= (nsecs - @began) / 1000000); clear(@since); clear(@stack); clear(@began); }' -c '/bin/sleep 0.5'
EXPECT ^1$
EXPECT ^@long\[sleep, \($
EXPECT ^ +runtime\.gopark\+\d+$
EXPECT ^ +event\.\(\*Epoll\)\.Wait\+\d+$
EXPECT ^ +runtime\.netpoll\+\d+$
EXPECT ^@same\[true, true, true\]: [1-9]\d*$
EXPECT_NOT ^@same\[.*false

NAME a script does not measure what is done for it, and does not answer itself
RUN bt -q -e 'kprobe:*/trace/out.*, kprobe:*/optprobe.optimize, kprobe:runtime.gcStart { @[func] = count(); } kprobe:vfs.Write { @w = count(); }' -c 'echo 1 > /dev/null; sleep 0.2'
EXPECT_NOT ^@\[
EXPECT ^@w: 1$
RUN bt -q -o /tmp/own -e 'kprobe:vfs.Write { printf("%s\n", comm); }' -c 'echo 1 > /dev/null; sleep 0.2'; grep -c . /tmp/own
EXPECT ^1$
RUN offcputime -c 'sleep 0.3'
EXPECT ^ +coreutils\.wait\+\d+$
EXPECT ^, \]: ([3-9]\d{5}|\d{7,})$
EXPECT_NOT ^ +(optprobe|run|out)\.

NAME --self counts what is done for the script
RUN bt --self -q -e 'kprobe:*/optprobe.* { @[func] = count(); }' -c 'sleep 0.2'
EXPECT ^@\[optprobe\.

NAME of software's events, each Nth is a hit
RUN bt -q -e 'software:page-faults:1 { @all = count(); } software:page-faults:10 { @tenth = count(); } END { printf("%d\n", @all / 10 == @tenth); }' -c '/bin/cat /proc/uptime > /dev/null'
RUN bt -q -e 'software:cpu-clock:10000000 { @c = count(); } software:cs:1 { @s = count(); }' -c '/bin/sleep 0.2'
EXPECT ^1$
EXPECT ^@all: [1-9]\d+$
EXPECT ^@c: [1-9]\d*$
EXPECT ^@s: [1-9]\d*$

NAME nothing is left of a script
RUN bt -q -e 'kprobe:vfs.Read { @[comm] = count(); }' -c 'true'
RUN bpf prog; bpf map; bpf link; cat /sys/kernel/debug/kprobes/list; echo end
EXPECT ^end$
EXPECT_NOT bt1|@|vfs\.Read

NAME nothing is left if the reader, the command or the shell is not there
RUN left() { bpf prog; bpf map; bpf link; cat /sys/kernel/debug/kprobes/list; echo "nothing left by $1"; }
RUN bt --self -q -e 'kprobe:runtime.mallocgc { printf("line\n"); }' | head -n 2; left head
RUN bt --self -q -e 'kprobe:runtime.mallocgc { printf("line\n"); }' | sleep 2; left sleep
RUN bt -q -e 'kprobe:vfs.Read { @ = count(); }' -c /bin/nothere; echo "status $?"; left command
RUN /bin/sh -c 'bt -q -e "kprobe:vfs.Read { @ = count(); }"; echo on' & until grep vfs.Read /sys/kernel/debug/kprobes/list; do sleep 0.1; done; kill -9 -$!; for i in $(seq 50); do bpf prog | grep -q bt || break; sleep 0.1; done; left shell
EXPECT ^line$
EXPECT ^nothing left by head$
EXPECT ^nothing left by sleep$
EXPECT /bin/nothere: no such file or directory$
EXPECT ^status 127$
EXPECT ^nothing left by command$
EXPECT  k  sonde/kernel/vfs\.Read\+0x0
EXPECT ^nothing left by shell$
EXPECT_NOT bt\d|mallocgc

NAME ^C ends a script at every moment
RUN for d in 0 0.01 0.02 0.05 0.1 0.2 0.3 0.5 0.8; do bt -q -e 'kprobe:vfs.* { @[func] = count(); } i:ms:5 { printf("t\n"); } END { printf("end\n"); }' > /dev/null & sleep $d; kill -INT $!; wait; echo ended; done
RUN bpf prog; bpf map; bpf link; cat /sys/kernel/debug/kprobes/list; echo over
EXPECT ^ended$
EXPECT ^ended$
EXPECT ^ended$
EXPECT ^ended$
EXPECT ^ended$
EXPECT ^ended$
EXPECT ^ended$
EXPECT ^ended$
EXPECT ^ended$
EXPECT ^over$
EXPECT_NOT bt\d|vfs

NAME a variable of the kernel
RUN bt -e 'watchpoint:printk.consoleLevel:4:w { printf("%d -> %d %s\n", watch.old, watch.new, func); }' -c 'dmesg -n 5'
EXPECT ^\d+ -> 5 printk\.SetConsoleLevel$

NAME a pattern names what was hit
RUN bt -e 'kprobe:vfs.* { @[probe] = count(); }' -c '/bin/cat /proc/uptime'
EXPECT ^Attached \d\d\d+ probes$
EXPECT ^@\[kprobe:vfs\.Read\]: 3$

NAME JSON
RUN bt -f json -e 'BEGIN { printf("a\n"); @[1, "x"] = 5; @h = hist(3); exit(); }'
EXPECT ^\{"type": "attached_probes", "count": 1, "data": \{"probes": 1\}\}$
EXPECT ^\{"type": "printf", "data": "a\\n"\}$
EXPECT ^\{"type": "map", "data": \{"@": \{"1,x": 5\}\}\}$
EXPECT ^\{"type": "hist", "data": \{"@h": \[\{"min": 2, "max": 3, "count": 1\}\]\}\}$

NAME arguments of the kernel's functions have names
RUN bt -e 'kprobe:vfs.Write { printf("%s %d\n", str(args.f.name), len(args.p)); }' -c 'echo 1234567 > /dev/null'
EXPECT ^/dev/null 8$
RUN bt -e 'kprobe:vfs.Write { @ = args.f.q; }'
EXPECT ^HINT: there is .*name
RUN bt -e 'kretprobe:vfs.OpenAt /ret.1/ { @refused = count(); }' -c '/bin/cat /nothing'
EXPECT ^@refused: [1-9]\d*$
RUN bt -e 'kretprobe:vfs.OpenAt { printf("%s\n", ret.1); @[ret.1] = count(); }' -c '/bin/cat /proc/uptime /nothing > /dev/null'
EXPECT ^nil$
EXPECT ^open /nothing: no such file or directory$
EXPECT ^@\[nil\]: [1-9]\d*$
RUN bt -q -e 'kretprobe:vfs.OpenAt /ret.1/ { @type[ret.1] = count(); @text[str(ret.1)] = count(); }' -c '/bin/cat /nothing'
EXPECT ^@text\[open /nothing: no such file or directory\]: [1-9]\d*$
EXPECT ^@type\[fs\.PathError\]: [1-9]\d*$
RUN bt -q -e 'kprobe:"fmt.(*pp).printArg" { @[args.arg] = count(); }' -c 'cat /proc/uptime'
EXPECT ^@\[time\.Duration\]: [1-9]\d*$

NAME BEGIN and END run beside the probes
RUN bt -e 'BEGIN { @n = 1; } kprobe:vfs.Read { @n++; } END { printf("end %d\n", @n > 1); clear(@n); }' -c '/bin/cat /proc/uptime'
EXPECT ^Attached 3 probes$
EXPECT ^end 1$

NAME scripts are files, with arguments; output goes to a file
RUN echo 'BEGIN { printf("%d %s\n", $1, str($2)); exit(); }' > /tmp/a.bt
RUN bt /tmp/a.bt 7 seven
RUN bt -q -o /tmp/out /tmp/a.bt 8 eight; echo -n "file: "; cat /tmp/out
RUN bt -d -e 'kprobe:vfs.Read { @ = count(); }'
RUN bt -v -e 'kprobe:vfs.Read { @ = count(); }' -c 'true'
RUN bt -l 'kprobe:vfs.Read'; bt -l 'tracepoint:syscalls:sys_enter_open*'
EXPECT ^7 seven$
EXPECT ^file: 8 eight$
EXPECT ^kprobe:vfs\.Read: \d+ instructions$
EXPECT ^call 1$
EXPECT ^Attached 1 probe$
EXPECT ^ +HITS = +RUN \+ RECURSION \+ DISARMED \+ THROTTLED  UNEXPLAINED  PROBE$
EXPECT ^ +\d+ +\d+ +0 +0 +0 +0  kprobe:vfs\.Read$
EXPECT ^bt: 0 records = 0 read \+ 0 lost$
EXPECT ^kprobe:vfs\.Read$
EXPECT ^tracepoint:syscalls:sys_enter_openat$

NAME loops, macros and what all CPUs have
RUN bt -q -e 'BEGIN { @m[1] = 2; @m[3] = 4; for ($kv : @m) { printf("%d=%d\n", $kv.0, $kv.1); } exit(); }'
EXPECT ^1=2$
EXPECT ^3=4$
RUN bt -q -e 'macro add(x) { x + 1 } kprobe:vfs.Read { @c[comm] = count(); @n = count(); } END { for ($kv : @c) { printf("%s %d\n", $kv.0, $kv.1 > 0); } printf("all %d\n", add(@n) > 1); clear(@c); clear(@n); }' -c '/bin/cat /proc/uptime'
EXPECT ^cat 1$
EXPECT ^all 1$
RUN bt -q -e 'BEGIN { printf("%d %s %r %d\n", strcontains("hello", "ell"), ntop(0x0100007f), buf("a\x01", 2), strlen("abc")); for ($i : 0..ncpus) { @ = $i } exit(); }'
EXPECT ^1 127\.0\.0\.1 a\\x01 3$

NAME commands and files in a script, its end, and what is wrong in it
RUN bt -q --unsafe -e 'BEGIN { system("echo %d", 7); cat("/proc/version"); exit(3); }'; echo "status $?"
EXPECT ^7$
EXPECT sonde
EXPECT ^status 3$
RUN bt -e 'BEGIN { system("x") }'; bt -q -e 't:syscalls:sys_enter_nanosleep { signal("TERM") }'
EXPECT ^HINT: start bt with --unsafe$
EXPECT ^HINT: start bt with --unsafe$
RUN bt -q --unsafe -e 't:syscalls:sys_enter_nanosleep /comm == "sleep"/ { signal("TERM"); }' -c '/bin/sleep 5; echo "sleep got $?"'
EXPECT ^sleep got 143$
RUN bt --dry-run -e 'kprobe:vfs.Read { printf("hit\n") }'; bt --usage; bt -q -k -e 'BEGIN { print(@a[1]); @a[2] = 1; assert(0, "never"); }'; echo "status $?"
EXPECT ^USAGE:$
EXPECT ^stdin:1:15-20: WARNING: Can't lookup map element
EXPECT ^stdin:1:34-52: ERROR: assert failed: never$
EXPECT ^status 1$
EXPECT_NOT ^hit$
RUN bt -lv 'kprobe:vfs.Write'; bt -q -e 'kprobe:sonde/kernel/vfs.* { @ = count() }' --config max_probes=5
EXPECT ^kprobe:vfs\.Write$
EXPECT ^ {4}\[\]uint8 p$
EXPECT ^stdin:1:1-26: ERROR: place "sonde/kernel/vfs\.\*": \d+ places fit, more than 5
EXPECT ^HINT: the limit is 5 places for a script, of which the points before this take 0; --config max_probes=N raises it$
STATUS 1

NAME what is said is held back until it is known whether it matters
RUN bt -q -e 'kprobe:vfs.Read { @x = speculate(); printf("in\n"); } kretprobe:vfs.Read { if (retval == 0) { printf("end\n"); commit(); } else { discard(); } } END { clear(@x) }' -c '/bin/cat /proc/uptime > /dev/null'
EXPECT ^end$
EXPECT ^in$

NAME what a script says is written for other tools
RUN bt -o /tmp/folded --format folded -e 'kprobe:vfs.Write { @[comm, kstack(3)] = count(); }' -c 'echo 1 > /dev/null'; cat /tmp/folded
EXPECT ^\S+;.*;shell\.\(\*pieceWriter\)\.flush;vfs\.Write 1$
RUN bt --format chrome -e 'kprobe:vfs.Read { printf("in") } kretprobe:vfs.Read { printf("%d", retval) } tracepoint:syscalls:sys_enter_read { printf("fd %d", args.fd) } tracepoint:syscalls:sys_exit_read { printf("%d", args.ret) }' -c '/bin/cat /proc/uptime > /dev/null'
EXPECT ^\{"displayTimeUnit":"ns","traceEvents":\[$
EXPECT ^\{"name":"read","ph":"B","ts":\d+\.\d+,"pid":[1-9]\d*,"tid":\d+,"args":\{"says":"fd \d+","cpu":\d+\}\},$
EXPECT ^\{"name":"vfs\.Read","ph":"B","ts":\d+\.\d+,"pid":\d+,"tid":\d+,"args":\{"says":"in","cpu":\d+\}\},$
EXPECT ^\{"name":"vfs\.Read","ph":"E",
EXPECT ^\{"name":"read","ph":"E",
EXPECT ^\]\}$
RUN bt -o /tmp/p --format pprof -e 'profile:hz:99 { @[kstack] = count(); }' -c 'repeat 50 cat /proc/uptime > /dev/null'; bt -o /tmp/t --format perfetto -e 'BEGIN { printf("x"); exit() }'; wc -c /tmp/p /tmp/t
EXPECT ^ *[1-9]\d+ /tmp/p$
EXPECT ^ *[1-9]\d+ /tmp/t$

NAME wrong options are refused
RUN bt; bt -f xml -e 'BEGIN { }'; bt -B 0 -e 'BEGIN { }'; bt -B NaN -e 'BEGIN { }'; bt -p x -e 'BEGIN { }'; bt /tmp/none; bt -l 'kprobe:none.*'; bt -c true
EXPECT give a script: -e SCRIPT, or a file
EXPECT Invalid output format "xml": give text or json
EXPECT "0" is not a budget: give 0\.1 to 100, in percent of a CPU
EXPECT "NaN" is not a budget
EXPECT ERROR: Failed to parse pid: invalid integer: x
EXPECT /tmp/none: .*no such file
EXPECT nothing fits kprobe:none\.\*
EXPECT give a script
STATUS 2

NAME a script for one process ends with it, and is refused if there is none
RUN /bin/sleep 2 & bt -q -p $! -e 't:syscalls:sys_exit_nanosleep { @[comm] = count(); } END { printf("over\n"); }'; bt -p 99999 -e 'BEGIN { exit(); }'
EXPECT ^over$
EXPECT there is no process 99999$
STATUS 1

NAME a script has a budget
RUN bt -B 1 -v -e 'kprobe:runtime.mallocgc { @ = count(); } i:s:3 { exit(); }' & repeat 300 cat /proc/uptime > /dev/null; wait
RUN echo the machine answers
EXPECT ^ +[1-9]\d* +\d+ +\d+ +0 +[1-9]\d* +0  kprobe:runtime\.mallocgc$
EXPECT ^bt: kprobe:runtime\.mallocgc: [1-9]\d* of \d+ hits throttled: the probe took more than 1 % of a CPU \(-B\)$
EXPECT ^the machine answers$
EXPECT_NOT not accounted for

NAME calls for which a return probe has no room are said
RUN f() { test $1 = 0 || f $(($1 - 1)); }; bt -q -e 'kretprobe:shell.(*Shell).stmt { @ = count(); } i:s:3 { exit(); }' & sleep 1; f 120; wait
EXPECT ^@: \d+$
EXPECT ^bt: kretprobe:shell\.\(\*Shell\)\.stmt: \d\d+ of \d{3} calls missed: more at the same time than the probe has room for$
EXPECT_NOT not accounted for

NAME what is lost is said
RUN bt -q -e 'BEGIN { for $i : 0..10 { @[$i] = 1; } exit(); } config = { max_map_keys = 4 }'
EXPECT ^bt: WARNING: Map full; can't update element: \d+ values of @ are lost; config = \{ max_map_keys = 16 \} makes it larger$

NAME two scripts at the same place
RUN bt -q -e 'kprobe:vfs.Read { @a = count(); } interval:ms:100 /@a > 3/ { exit(); }' & bt -q -e 'kprobe:vfs.Read { @b = count(); }' -c '/bin/cat /proc/uptime'; repeat 20 'cat /proc/uptime; sleep 0.1'; wait
EXPECT ^@b: [1-9]\d*$
EXPECT ^@a: [1-9]\d*$

NAME a script that divides by 0 at each hit says so once a second, and how often
RUN bt -q -e 'BEGIN { @z = 0 } i:ms:1 { @n++; $x = 10 / @z; if (@n == 100) { exit(); } } END { clear(@z) }'
EXPECT ^stdin:1:38-45: WARNING: Divide or modulo by 0 detected\..* \(\d+ times\)$
EXPECT ^@n: 100$

NAME mistakes are shown in the script, and nothing is attached
RUN bt -e 'kprobe:vfs.Reed { }'
EXPECT ^stdin:1:1-16: ERROR: No matches for kprobe vfs\.Reed: there is no function vfs\.Reed in the kernel$
EXPECT ^kprobe:vfs\.Reed \{ \}$
EXPECT ^~{15}$
EXPECT ^HINT: did you mean vfs\.Read\?$
RUN bt -e 'BEGIN { while (1) { } }'
EXPECT ^stdin:1:16-17: ERROR: this loop has no bound that can be seen$
RUN bt -e 'kprobe:vfs.Read { @ = args.q }'
EXPECT ^stdin:1:23-29: ERROR: kprobe:vfs\.Read has no argument q$
RUN bt -e 'BEGIN { @ = lhist(1, 0, 10, 1); @ = lhist(1, 0, 20, 1); }'
EXPECT ^stdin:1:33-55: ERROR: @ keeps lhist\(…, 0, 10, 1\), and this is lhist\(…, 0, 20, 1\): in one map, they must be the same$
EXPECT ^ {32}~{22}$
RUN bt -e 'kprobe:vfs.Read { } kprobe:sonde/arch/amd64/trap.takeDebug { }'
EXPECT ^stdin:1:21-59: ERROR: .*takeDebug
RUN bpf prog
RUN cat /sys/kernel/debug/kprobes/list
RUN bt -e ''
EXPECT ^stdin:1:1-2: ERROR: the script has no probe$
STATUS 1

NAME functions of programs are listed, and each has its name
RUN bt -q -e 'uprobe:/bin/myprog:myf* { @[probe, func] = count(); } uretprobe:/bin/myprog:myfunc { @r[func] = count(); }' -c 'myprog -n 2 > /dev/null'
EXPECT ^@\[uprobe:/bin/myprog:myfunc, myfunc\]: 2$
EXPECT ^@r\[myfunc\]: 2$
RUN bt -q -e 'uprobe:/bin/*:myfunc { @files[probe] = count(); }' -c 'myprog -n 3 > /dev/null'
EXPECT ^@files\[uprobe:/bin/box:myfunc\]: 3$
RUN bt -e 'uprobe:/bin/*:nofunction { }'; bt -e 'uretprobe:/none/*:main { }'
EXPECT no program that fits /bin/\* has a function nofunction$
EXPECT no program that fits /none/\* has a function main$
RUN bt -l 'uprobe:myprog:my*,kr:vfs.Read,kprobe:vmlinux:vfs_read'
EXPECT ^uprobe:myprog:myfunc$
EXPECT ^kretprobe:vfs.Read$
EXPECT ^kprobe:vmlinux:vfs_read$

NAME the command ends with the script, also while it is being started
RUN gone() { for i in $(seq 100); do ps | grep -q '/bin/sleep 100' || break; sleep 0.1; done; ps | grep '/bin/sleep 100' || echo it has ended; }
RUN bt -q -e 'i:ms:1 { exit(); }' -c '/bin/sleep 1000'; gone
EXPECT ^it has ended$
RUN bt -q -e 'i:ms:200 { exit(); }' -c '/bin/sleep 1001'; gone
EXPECT ^it has ended$

NAME a line of the source is hit as often as it is executed
RUN bt -q -e 'line:kernel/vfs/io.go:76 { @line = count(); }' -c 'cat /proc/uptime; cat /proc/version'
EXPECT ^@line: 4$

NAME scripts count what strace, funccount and stackcount count
RUN bt -q -e 't:raw_syscalls:sys_enter /comm == "cat"/ { @ = count(); }' -c 'strace -f -c /bin/cat /proc/uptime' > /tmp/counts 2>&1
RUN set -- $(grep total /tmp/counts) $(grep '^@:' /tmp/counts); echo "execve, which another name has made, is not counted: $(($4 - $8))"
RUN bt -q -e 'kprobe:vfs.Read /comm == "cat"/ { @reads = count(); }' -c "funccount -c '/bin/cat /proc/uptime > /dev/null' vfs.Read"
RUN bt -q -e 'kprobe:vfs.Write { @[kstack(1)] = count(); }' -c "stackcount -c '/bin/cat /proc/uptime > /dev/null' vfs.Write"
EXPECT ^execve, which another name has made, is not counted: 1$
EXPECT ^@\[vfs\.Read\]: 3$
EXPECT ^@reads: 3$
EXPECT ^ +proc\.\(\*Thread\)\.SystemCall\+\d+$
EXPECT ^\]: 1$
EXPECT ^ +vfs\.Write\+2$
EXPECT ^\]: 1$

NAME collections are those that the runtime counts
RUN bt -q -e 'tracepoint:go:gc_start { @t = nsecs; } tracepoint:go:gc_end /@t/ { @gc = hist(nsecs - @t); if (!@n) { @a = args.num; } @n++; @b = args.num; if (@n == 3) { exit(); } } END { printf("%d collections, numbers without a gap: %d\n", @n, @b == @a + @n - 1); clear(@t); clear(@a); clear(@b); }' -c 'while true; do cat /proc/uptime > /dev/null; done'
EXPECT ^[3-9] collections, numbers without a gap: 1$
EXPECT ^@gc:$
EXPECT ^\[\d+[KMG]?, \d+[KMG]?\) +\d+ \|

NAME a series is drawn
RUN bt -q -e 'BEGIN { @ = tseries((uint64)-1, 100s, 2, "max"); @ = tseries((uint64)1, 100s, 2, "max"); exit(); }'
EXPECT \* 18446744073709551615$
RUN bt -q -e 'i:ms:20 { @ = tseries(ncpus, 100ms, 5); } i:ms:450 { exit(); }'
EXPECT ^hh:mm:ss\.ms +\|_+\|$
EXPECT ^\d\d:\d\d:\d\d\.\d{3} \| +\* +\| 1$

NAME a goroutine of a program has its number, and is no thread
RUN bt -q -e 'uprobe:/bin/myprog:myfunc { @[ugoid] = count(); }' -c 'myprog -n 5 > /dev/null'
EXPECT ^@\[1\]: 5$
RUN bt -q -e 'uprobe:/bin/myprog:myfunc { @[goid] = count(); }'
EXPECT ^HINT: ugoid is the program's goroutine, tid its thread$
RUN bt -q -e 'kprobe:vfs.Read { @[ugoid] = count(); }'
EXPECT ^HINT: goid is the kernel's$
STATUS 1
