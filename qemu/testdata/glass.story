# One hit, transition by transition.

NAME a step shows each transition
RUN glass -t step vfs.Read cat /proc/version
EXPECT ^glass: vfs\.Read\+0x0 kernel/vfs/io\.go:\d+$
EXPECT ^  goroutine \d+, CPU \d, hit 2, INT3 with single step$
EXPECT ^      text   cc 3b 66 10 0f 86 \.\.  was 49 3b 66 10 0f 86 \.\.  CMPQ SP, 0x10\(R14\)$
EXPECT ^ 4  to the slot, to be stepped +\+\d+ [nu]s$
EXPECT ^      IP slot of vfs\.Read\+0x0  CMPQ SP, 0x10\(R14\)$
EXPECT ^ 8  post-handler replay\.emptyPost returned +\+\d+ [nu]s$

NAME a jump is recorded as it is
RUN glass -s vfs.Read cat /proc/version
EXPECT hit 2, JUMP$
EXPECT ^ 1  soft trap from the detour$
EXPECT ^      IP detour's copy, goes on at vfs\.Read\+0x[0-9a-f]+  JMP \+0x

NAME a call that returns later goes on to its caller
RUN glass -t return -n 1 vfs.Read cat /proc/version
EXPECT JUMP, return probe$
EXPECT kprobes\.trampoline\+0x0
EXPECT ^ 7  goes back

NAME JSON is one object
RUN glass -j -t int3 vfs.Read cat /proc/version
EXPECT ^\{"version":1,"place":"vfs\.Read\+0x0","file":"kernel/vfs/io\.go",.*"complete":true,.*"stage":"decided",.*\}$

NAME a recording is a file
RUN echo vfs.Read > /sys/kernel/debug/glass/new
RUN cat /sys/kernel/debug/glass/new
RUN cat /proc/version
RUN cat /sys/kernel/debug/glass/1
EXPECT ^1$
EXPECT ^\{"version":1,.*"hit":2,"lost":0,"complete":true

NAME a recording that nothing hits is ended
RUN echo kernel/power.Off > /sys/kernel/debug/glass/new
RUN cat /sys/kernel/debug/kprobes/list
RUN echo -1 > /sys/kernel/debug/glass/new
RUN cat /sys/kernel/debug/glass/1
RUN cat /sys/kernel/debug/kprobes/list | wc -l
EXPECT ^[0-9a-f]{16}  c  sonde/kernel/power\.Off\+0x0
EXPECT ^0$
EXPECT_NOT version
ALONE its recording has number 1

NAME what cannot be recorded is refused with the reason
RUN glass -n 99 vfs.Read cat /proc/version
EXPECT ^glass: nothing is recorded: \d+ hits came, and hit 99 was to be recorded \(-n\)$
RUN glass -t hop vfs.Read
EXPECT ^glass: "hop" is not a kind of probe; give one of int3, boost, step, jump, return, jprobe, goroutine$
RUN glass -t boost vfs.Read true
EXPECT ^glass: the instruction is not boosted, but decided$
RUN glass sh:main
EXPECT ^glass: there is no function main in /bin/
RUN glass vfs.*
EXPECT ^glass: vfs\.\* is at \d+ places; a camera records one
RUN glass kprobes.film
EXPECT ^glass: sonde/kprobes\.film may not be probed
STATUS 1

NAME a probe becomes a jump, and back
RUN glass -o vfs.Read
EXPECT ^glass: vfs\.Read\+0x0 from INT3 to jump, and back, on \d CPUs$
EXPECT byte poked at vfs\.Read\+0x0: 49 -> cc
EXPECT detour made at 0x
EXPECT grace period is over
EXPECT stops the others
EXPECT bytes written: e9 
EXPECT bytes written: cc 3b 66 10 0f
EXPECT byte poked at vfs\.Read\+0x0: cc -> 49
RUN glass -o -j vfs.Write
EXPECT ^\{"version":1,"place":"vfs\.Write\+0x0","cpus":\d,"lost":0,"steps":\[\{"seq":1,"t":0,"cpu":\d,"step":"poked"

NAME the way of a probe that becomes no jump is refused
RUN insmod kprobe_example symbol=vfs.Read
RUN glass -o vfs.Read
EXPECT ^glass: vfs\.Read.* has a probe already
RUN sysctl -w debug.kprobes_optimization=0
RUN glass -o vfs.Write
EXPECT ^glass: there is no jump; explain vfs\.Write says why$
RUN glass -o -n 1 vfs.Write
EXPECT ^glass: -o takes only -s or -j, and a place$
STATUS 2

NAME a script's program is a handler like any other
RUN bt -c 'glass -s vfs.Read cat /proc/version' -e 'kprobe:vfs.Read { @n = count(); }'
EXPECT ^ 2  event program bpf_prog_bt1 entered
EXPECT ^ 3  event program bpf_prog_bt1 has run, and changed nothing here
ALONE its program has number 1
