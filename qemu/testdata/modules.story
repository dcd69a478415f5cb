# insmod, rmmod and lsmod.

NAME modules are listed while they are loaded
RUN lsmod
RUN insmod kprobe_example
RUN lsmod
RUN cat /proc/modules
EXPECT ^Name +Module$
EXPECT ^Name +Module$
EXPECT ^kprobe_example +kprobe_example$
EXPECT ^kprobe_example 0 0 - Live 0x0{16}$

NAME a module is gone after rmmod
RUN insmod kprobe_example
RUN rmmod kprobe_example
RUN lsmod
EXPECT ^Name +Module$
EXPECT_NOT ^kprobe_example

NAME lsmod -a lists what there is to load
RUN lsmod -a
EXPECT ^kprobe_example +\S

NAME modinfo explains the parameters
RUN modinfo kprobe_example
EXPECT ^name: +kprobe_example$
EXPECT ^parm: +offset: .*\(uint, now 0\)$
EXPECT ^parm: +post: .*\(bool, now y\)$
EXPECT ^parm: +symbol: .*\(string, now sonde/kernel/vfs\.Read\)$

NAME an unknown parameter is refused with the known ones
RUN insmod kprobe_example sym=x
EXPECT ^insmod: kprobe_example: unknown parameter "sym" \(known: offset, post, symbol\)
STATUS 1

NAME a value of the wrong type is refused
RUN insmod kprobe_example offset=far
EXPECT ^insmod: kprobe_example: .*offset=far: give a whole number, 0 or more$
STATUS 1

NAME values that make no sense are refused
RUN insmod funccount target=vfs.* n=-1
RUN insmod funccount target=vfs.* interval=-5
RUN insmod funclatency target=vfs.Write n=0
RUN insmod argdist target=/bin/box:
RUN insmod stackcount target=/bin/box
RUN insmod funccount target=
RUN insmod argdist target=vfs.Read arg=-1
RUN insmod kretprobe_example maxactive=-7
RUN insmod data_watch_example length=-8
RUN insmod uprobe_example pid=-3 vaddr=0x400000; insmod uprobe_example
RUN lsmod
EXPECT ^insmod: funccount: parameter n=-1: -1 is not from 1 to 100000$
EXPECT ^insmod: funccount: parameter interval=-5: -5 is not from 0 to 86400$
EXPECT ^insmod: funclatency: parameter n=0: 0 is not from 1 to 100000$
EXPECT ^insmod: argdist: parameter target=/bin/box:: place "/bin/box:": the file /bin/box without a function; give both, as in /bin/box:FUNCTION$
EXPECT ^insmod: stackcount: parameter target=/bin/box: place "/bin/box": the file /bin/box without a function; give both, as in /bin/box:FUNCTION$
EXPECT ^insmod: funccount: parameter target=: it is empty; give the function, as in target=vfs\.Read$
EXPECT ^insmod: argdist: arg=-1: words are counted from 0$
EXPECT ^insmod: kretprobe_example: parameter maxactive=-7: -7 is not from 1 to \d+$
EXPECT ^insmod: data_watch_example: parameter length=-8: -8 is not from 0 to 8$
EXPECT ^insmod: uprobe_example: parameter pid=-3: -3 is not from 1 to 4194304$
EXPECT ^insmod: uprobe_example: give pid= and vaddr=, or path= and symbol=$
EXPECT ^Name +Module$
EXPECT_NOT ^funccount|^argdist|^stackcount|^funclatency|_example +\S

NAME an unknown module is refused with near names
RUN insmod kprobe_exampel
EXPECT ^insmod: kprobe_exampel: no such module \(did you mean kprobe_example\?\)$
STATUS 1

NAME loading twice is refused
RUN insmod kprobe_example
RUN insmod kprobe_example
EXPECT ^insmod: kprobe_example: kprobe_example is already loaded; to load another, name it: name=NAME$
STATUS 1

NAME rmmod of what is not loaded is refused
RUN rmmod kprobe_example
EXPECT ^rmmod: kprobe_example: not loaded
STATUS 1
ALONE others leave their module

NAME the ready modules measure what programs do
RUN insmod funccount target=vfs.* n=3
RUN insmod funclatency target=vfs.Write
RUN insmod argdist target=vfs.Read arg=2
RUN insmod stackcount target=vfs.Write n=1
RUN /bin/sh -c "for i in 1 2 3 4 5 6 7 8; do echo some line; done" | wc -l
RUN cat /sys/kernel/debug/funccount
RUN rmmod funccount
RUN cat /sys/kernel/debug/funclatency
RUN cat /sys/kernel/debug/argdist
RUN cat /sys/kernel/debug/stackcount
RUN rmmod funclatency; rmmod argdist; rmmod stackcount
RUN ls /sys/kernel/debug
RUN cat /sys/kernel/debug/kprobes/list | wc -l
SMP 2
EXPECT ^8$
EXPECT ^PLACE +COUNT$
EXPECT ^sonde/kernel/vfs\.\S+ +\d+$
EXPECT ^\d+ of \d+ places were hit, 0 hits missed, \d+ places cannot be probed$
EXPECT ^vfs\.Write, ns: [1-9]\d* calls, 0 missed, \d+ in progress$
EXPECT ^\[\d+[KM]?, \d+[KM]?\) +[1-9]\d* \|@
EXPECT ^vfs\.Read, word 2 of its arguments: [1-9]\d* calls, 0 missed$
EXPECT ^\[\d+K?, \d+K?\) +[1-9]\d* \|@{52}\|$
EXPECT ^vfs\.Write: [1-9]\d* calls on [1-9]\d* stacks?, 0 missed$
EXPECT ^ +[1-9]\d* vfs\.Write$
EXPECT ^ {10}\S+$
EXPECT ^kprobes$
EXPECT ^0$
EXPECT_LOG \] funccount: PLACE +COUNT$
EXPECT_LOG \] funclatency: \[\d+[KM]?, \d+[KM]?\) +[1-9]\d* \|@
EXPECT_LOG \] stackcount: +[1-9]\d* vfs\.Write$
EXPECT_NOT so it may be abandoned

NAME stacks of ticks: in the kernel, in programs, and where no goroutine runs
RUN insmod stackcount target=tick:997hz n=100
RUN /bin/sh -c "for i in 1 2 3; do for j in 1 2 3 4 5 6 7 8 9; do for k in 1 2 3 4 5 6 7 8 9; do :; done; done; done"; sleep 0.1
RUN cat /sys/kernel/debug/stackcount
RUN rmmod stackcount
EXPECT ^tick:997hz: [1-9]\d* calls on [1-9]\d* stacks?, 0 missed$
EXPECT ^ +[1-9]\d* runtime\.\S+$

# Each of the two programs reads /proc/self/cgroup when it begins, as Go's runtime does.
NAME a read that waits is one call of vfs.Read
RUN insmod funccount target=vfs.Read; /bin/sleep 0.3 | /bin/cat; cat /sys/kernel/debug/funccount
EXPECT ^sonde/kernel/vfs.Read +3$

NAME two instances of a module count at the same time
RUN insmod funclatency target=vfs.Read name=a; insmod funclatency target=vfs.Write name=b
RUN insmod funclatency target=vfs.Write name=a
RUN insmod funclatency target=vfs.Write name=no/name
RUN lsmod; modinfo a
RUN /bin/sh -c "for i in 1 2 3 4 5 6 7 8; do echo some line; done" | wc -l
RUN cat /sys/kernel/debug/a /sys/kernel/debug/b
RUN rmmod funclatency; rmmod aa
RUN rmmod a; lsmod | wc -l; /bin/sh -c "echo more" | wc -l; cat /sys/kernel/debug/b; rmmod b; lsmod | wc -l
RUN cat /sys/kernel/debug/kprobes/list | wc -l
SMP 2
EXPECT ^insmod: funclatency: a is already loaded; to load another, name it: name=NAME$
EXPECT ^insmod: funclatency: parameter name=no/name: a name has 1 to 55 letters
EXPECT ^b +funclatency$
EXPECT ^a +funclatency$
EXPECT ^name: +a$
EXPECT ^module: +funclatency$
EXPECT ^parm: +target: .*now vfs\.Read\)$
EXPECT ^8$
EXPECT ^vfs\.Read, ns: [1-9]\d* calls, 0 missed
EXPECT ^vfs\.Write, ns: [1-9]\d* calls, 0 missed
EXPECT ^rmmod: funclatency: not loaded under this name, but as a, b$
EXPECT ^rmmod: aa: no such module \(did you mean .*a.*\?\)$
EXPECT ^2$
EXPECT ^1$
EXPECT ^vfs\.Write, ns: [1-9]\d* calls, 0 missed
EXPECT ^1$
EXPECT ^0$
EXPECT_LOG \] a: vfs\.Read, ns: [1-9]\d* calls
EXPECT_LOG \] b: vfs\.Write, ns: [1-9]\d* calls

NAME ready modules count results, fold stacks, and say what is wrong
RUN insmod argdist target=vfs.Read result=1 count=1
RUN insmod stackcount target=vfs.Read folded=1
RUN cat /proc/version
RUN cat /sys/kernel/debug/argdist
RUN cat /sys/kernel/debug/stackcount
RUN rmmod argdist; rmmod stackcount
RUN insmod funccount
RUN insmod funccount target=nix.*
RUN insmod funccount target=* n=1; cat /sys/kernel/debug/funccount; rmmod funccount
RUN insmod argdist target=vfs.Read arg=9
RUN insmod stackcount target=vfs.Raed
RUN lsmod
RUN ls /sys/kernel/debug
EXPECT ^ +COUNT +VALUE$
EXPECT ^ +1 +0$
EXPECT ^ +1 +\d\d$
EXPECT ^\S*coreutils\.\(\*IO\)\.copyOut;shell\.interruptible\.Read;vfs\.\(\*File\)\.Read;vfs\.Read \d+$
EXPECT ^insmod: funccount: give the function, as in target=vfs\.Read$
EXPECT ^insmod: funccount: place "nix\.\*": no function matches nix\.\*$
EXPECT ^[1-9]\d* of [1-9]\d{3,} places were hit, \d+ hits missed, [1-9]\d* places cannot be probed$
EXPECT ^insmod: argdist: arg=9: only words 0 to 8 are in registers$
EXPECT ^insmod: stackcount: .*there is no symbol .*did you mean
EXPECT ^Name +Module$
EXPECT ^kprobes$
EXPECT_NOT ^funccount|^argdist|^stackcount

NAME funccount counts places of every kind
RUN insmod funccount target=sys:* n=50; insmod funccount target=w@printk.consoleLevel name=writes; insmod funccount target=tick:100hz name=ticks
RUN /bin/cat /proc/uptime > /dev/null; dmesg -n 5; sleep 0.1
RUN cat /sys/kernel/debug/funccount /sys/kernel/debug/writes /sys/kernel/debug/ticks
RUN rmmod funccount; rmmod writes; rmmod ticks; dmesg -n 7
RUN insmod funccount target=sys:opne
RUN insmod funccount target=every:1
RUN insmod funccount target=7:tick:1hz
STATUS 1
SMP 2
EXPECT ^sys:openat +[1-9]\d*$
EXPECT ^w sonde/kernel/printk\.consoleLevel\+0x0 +1$|^w sonde/kernel/printk\.consoleLevel +1$
EXPECT ^tick:100hz +[1-9]\d*$
EXPECT ^insmod: funccount: place "sys:opne": there is no such system call$
EXPECT ^insmod: funccount: parameter target=every:1: place "every:1": "1" is not an interval; give 1ms to 8760h, as in every:1s$
EXPECT ^insmod: funccount: parameter target=7:tick:1hz: place "7:tick:1hz": a tick is not one of process 7$

NAME ready modules measure the functions of programs
RUN insmod funccount target=/bin/myprog:main.*; insmod funclatency target=/bin/myprog:myfunc
RUN insmod argdist target=/bin/myprog:myfunc count=1; insmod stackcount target=/bin/myprog:syscall.write
RUN myprog -n 3 -every 1ms -burst 4 > /dev/null
RUN cat /sys/kernel/debug/funccount /sys/kernel/debug/funclatency /sys/kernel/debug/argdist /sys/kernel/debug/stackcount
RUN rmmod funccount; rmmod funclatency; rmmod argdist; rmmod stackcount
RUN insmod argdist target=/bin/myprog:myfunc result=1 count=1; myprog -n 3 -every 1ms > /dev/null; cat /sys/kernel/debug/argdist
RUN rmmod argdist; cat /sys/kernel/debug/uprobes/list | wc -l
RUN insmod argdist target=/bin/nix:x
RUN insmod argdist target=/bin/myprog:nix
RUN insmod funccount target=/bin/myprog:nix*
RUN insmod funccount target=/bin/myprog:* n=1; myprog -n 1 > /dev/null; cat /sys/kernel/debug/funccount; rmmod funccount
RUN insmod argdist target=/proc/uptime:x
RUN lsmod
SMP 2
EXPECT ^/bin/myprog:main\.myprog +1$
EXPECT ^\d+ of \d+ places were hit, 0 hits missed, 0 places cannot be probed$
EXPECT ^/bin/myprog:myfunc, ns: 11 calls, 0 missed, 0 in progress$
EXPECT ^\[\d+[KM]?, \d+[KM]?\) +[1-9]\d* \|@
EXPECT ^/bin/myprog:myfunc, word 0 of its arguments: 11 calls, 0 missed$
EXPECT ^ +5 +1$
EXPECT ^ +5 +2$
EXPECT ^ +1 +3$
EXPECT ^/bin/myprog:syscall\.write: 3 calls on 1 stack, 0 missed$
EXPECT ^ +3 syscall\.write$
EXPECT ^ +main\.myprog$
EXPECT ^/bin/myprog:myfunc, word 0 of its results: 3 calls, 0 missed$
EXPECT ^ +1 +1$
EXPECT ^ +1 +4$
EXPECT ^ +1 +9$
EXPECT ^0$
EXPECT ^insmod: argdist: .*/bin/nix: no such file or directory$
EXPECT ^insmod: argdist: place "/bin/myprog:nix": there is no function nix in /bin/myprog
EXPECT ^insmod: funccount: place "/bin/myprog:nix\*": there is no such function$
EXPECT ^[1-9]\d\d+ of [1-9]\d{3} places were hit, 0 hits missed, [1-9]\d* places cannot be probed$
EXPECT ^insmod: argdist: place "/proc/uptime:x": /proc/uptime is not a regular file$
EXPECT_NOT ^funccount|^argdist|^stackcount

NAME funccount counts lines as often as they are executed
RUN insmod funccount target=vfs/io.go:33 name=line; insmod funccount target=vfs.Read name=calls
RUN cat /proc/uptime > /dev/null; cat /proc/uptime > /dev/null
RUN cat /sys/kernel/debug/line
RUN cat /sys/kernel/debug/calls
RUN rmmod line; rmmod calls
RUN insmod funccount target=vfs/io.go:31
RUN insmod funclatency target=vfs/io.go:33
RUN lsmod; cat /sys/kernel/debug/kprobes/list | wc -l
EXPECT ^sonde/kernel/vfs\.Read\+0x[1-9a-f][0-9a-f]* +4$
EXPECT ^vfs/io\.go:33: 1 of 1 place$
EXPECT ^1 of 1 places were hit, 0 hits missed, 0 places cannot be probed$
EXPECT ^sonde/kernel/vfs\.Read +6$
EXPECT ^insmod: funccount: place "vfs/io\.go:31": line 31 of sonde/kernel/vfs/io\.go has no code; the nearest lines that have some are 22 and 32$
EXPECT ^insmod: funclatency: parameter target=vfs/io\.go:33: .*this is a source line, not a place in the kernel or a place in a program$
EXPECT ^0$
EXPECT_NOT ^line +\S|^calls +\S

NAME modules take all inlined copies of a function
RUN insmod funccount target=inline:sync.(*Mutex).Lock; insmod stackcount target=inline:sync.(*Mutex).Lock
RUN cat /proc/uptime > /dev/null
RUN cat /sys/kernel/debug/funccount; cat /sys/kernel/debug/stackcount
RUN rmmod funccount; rmmod stackcount; insmod funccount target=inline:nix.F
RUN cat /sys/kernel/debug/kprobes/list | wc -l
EXPECT ^sonde/kernel/vfs\.\(\*File\)\.readNext\+0x[0-9a-f]+ +2$
EXPECT ^inline:sync\.\(\*Mutex\)\.Lock: [1-9]\d\d of [1-9]\d\d copies, and the function$
EXPECT ^\d+ of \d+ places were hit, 0 hits missed, [1-9]\d* places cannot be probed$
EXPECT ^inline:sync\.\(\*Mutex\)\.Lock: [1-9]\d* calls on [1-9]\d* stacks, \d+ missed$
EXPECT ^insmod: funccount: place "inline:nix\.F": no function nix\.F is inlined anywhere$
EXPECT ^0$
