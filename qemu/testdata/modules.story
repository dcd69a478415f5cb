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
RUN insmod funclatency target=vfs.Write n=0
RUN insmod funclatency target=/bin/box:
RUN insmod funclatency target=
RUN insmod funclatency target=nix.*
RUN insmod funclatency target=vfs.Raed
RUN insmod funclatency target=vfs/io.go:33
RUN insmod kretprobe_example maxactive=-7
RUN insmod data_watch_example length=-8
RUN insmod uprobe_example pid=-3 vaddr=0x400000; insmod uprobe_example
RUN lsmod
RUN ls /sys/kernel/debug
EXPECT ^insmod: funclatency: parameter n=0: 0 is not from 1 to 100000$
EXPECT ^insmod: funclatency: place "ret:/bin/box:": the file /bin/box without a function; give both, as in /bin/box:FUNCTION$
EXPECT ^insmod: funclatency: parameter target=: it is empty$
EXPECT ^insmod: funclatency: place "ret:nix\.\*": no function matches nix\.\*$
EXPECT ^insmod: funclatency: .*there is no symbol .*did you mean
EXPECT ^insmod: funclatency: place "ret:vfs/io\.go:33": a source line does not return
EXPECT ^insmod: kretprobe_example: parameter maxactive=-7: -7 is not from 1 to \d+$
EXPECT ^insmod: data_watch_example: parameter length=-8: -8 is not from 0 to 8$
EXPECT ^insmod: uprobe_example: parameter pid=-3: -3 is not from 1 to 4194304$
EXPECT ^insmod: uprobe_example: give pid= and vaddr=, or path= and symbol=$
EXPECT ^Name +Module$
EXPECT ^kprobes$
EXPECT_NOT ^funclatency|_example +\S

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

NAME a module measures what programs do
RUN insmod funclatency target=vfs.Write
RUN insmod funclatency target=/bin/myprog:myfunc name=mine
RUN /bin/sh -c "for i in 1 2 3 4 5 6 7 8; do echo some line; done" | wc -l
RUN myprog -n 3 -every 1ms -burst 4 > /dev/null
RUN cat /sys/kernel/debug/funclatency /sys/kernel/debug/mine
RUN rmmod funclatency; rmmod mine
RUN ls /sys/kernel/debug
RUN cat /sys/kernel/debug/kprobes/list | wc -l; cat /sys/kernel/debug/uprobes/list | wc -l
RUN insmod funclatency target=/bin/nix:x
RUN insmod funclatency target=/bin/myprog:nix
RUN insmod funclatency target=/bin/myprog:nix*
RUN insmod funclatency target=/proc/uptime:x
RUN lsmod
SMP 2
EXPECT ^8$
EXPECT ^vfs\.Write, ns: [1-9]\d* calls, 0 missed, \d+ in progress$
EXPECT ^ +\d+ to \d+ +[1-9]\d*$
EXPECT ^/bin/myprog:myfunc, ns: 11 calls, 0 missed, 0 in progress$
EXPECT ^ +\d+ to \d+ +[1-9]\d*$
EXPECT ^kprobes$
EXPECT ^0$
EXPECT ^0$
EXPECT ^insmod: funclatency: .*/bin/nix: no such file or directory$
EXPECT ^insmod: funclatency: place "ret:/bin/myprog:nix": there is no function nix in /bin/myprog
EXPECT ^insmod: funclatency: place "ret:/bin/myprog:nix\*": there is no such function$
EXPECT ^insmod: funclatency: place "ret:/proc/uptime:x": /proc/uptime is not a regular file$
EXPECT_LOG \] funclatency: +\d+ to \d+ +[1-9]\d*$
EXPECT_NOT so it may be abandoned|^funclatency

NAME stacks of ticks: in the kernel, in programs, and where no goroutine runs
RUN bt -q -e 'profile:hz:997 { @kernel[kstack] = count(); @program[comm] = count(); }' -c '/bin/sh -c "for i in 1 2 3; do for j in 1 2 3 4 5 6 7 8 9; do for k in 1 2 3 4 5 6 7 8 9; do :; done; done; done"; sleep 0.1'
EXPECT ^ +runtime\.\S+\+\d+$
EXPECT ^@program\[

# Each of the two programs reads /proc/self/cgroup when it begins, as Go's runtime does.
NAME a read that waits is one call of vfs.Read
RUN funccount -c '/bin/sleep 0.3 | /bin/cat' vfs.Read
EXPECT ^@\[vfs\.Read\]: 3$

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

NAME a program of bpf counts at places of every kind
RUN echo 'map calls percpu_array 4 8 1' > /tmp/a.s; echo 'r0 = 0' >> /tmp/a.s; echo exit >> /tmp/a.s
RUN bpf asm /tmp/a.s sys:* w@printk.consoleLevel tick:100hz; /bin/cat /proc/uptime > /dev/null; dmesg -n 5; sleep 0.1
RUN bpf link show id 1 | grep -v 'sys:'
RUN bpf rm 1; dmesg -n 7
RUN bpf asm /tmp/a.s sys:opne
RUN bpf asm /tmp/a.s every:1
RUN bpf asm /tmp/a.s 7:tick:1hz
STATUS 1
SMP 2
ALONE its program is the first
EXPECT ^1: prog 1 .* places 3\d\d$
EXPECT w sonde/kernel/printk\.consoleLevel\S* .* handled 1 
EXPECT tick:100hz .* handled [1-9]
EXPECT ^bpf: place "sys:opne": there is no such system call$
EXPECT ^bpf: place "every:1": "1" is not an interval; give 1ms to 8760h, as in every:1s$
EXPECT ^bpf: place "7:tick:1hz": a tick is not one of process 7$

NAME funccount counts lines as often as they are executed
RUN funccount -c 'cat /proc/uptime > /dev/null; cat /proc/uptime > /dev/null' vfs/io.go:33
RUN funccount -c 'cat /proc/uptime > /dev/null; cat /proc/uptime > /dev/null' vfs.Read
RUN funccount vfs/io.go:31; funclatency vfs/io.go:33
RUN cat /sys/kernel/debug/kprobes/list | wc -l
EXPECT ^@\[vfs\.Read\]: 4$
EXPECT ^@\[vfs\.Read\]: 4$
EXPECT line 31 of sonde/kernel/vfs/io\.go has no code; the nearest lines that have some are 22 and 32
EXPECT ^funclatency: place "vfs/io\.go:33": this is a source line, not a place in the kernel or a place in a program$
EXPECT ^0$

NAME tools take all inlined copies of a function
RUN funccount -c 'cat /proc/uptime > /dev/null' 'inline:sync.(*Mutex).Lock'
RUN stackcount -c 'cat /proc/uptime > /dev/null' 'inline:sync.(*Mutex).Lock' 2
RUN funccount 'inline:nix.F'
RUN cat /sys/kernel/debug/kprobes/list | wc -l
EXPECT ^@\[vfs\.\(\*File\)\.readNext\]: 2$
EXPECT ^ +vfs\.\(\*File\)\.readNext\+\d+$
EXPECT no function nix\.F is inlined anywhere
EXPECT ^0$
