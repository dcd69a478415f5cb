# explain: what a probe would be, without one being set.

NAME a function's entry gets a jump
RUN explain vfs.Read
RUN cat /sys/kernel/debug/kprobes/list
EXPECT ^sonde/kernel/vfs\.Read\+0x0$
EXPECT Not probed\. A probe here would be hit by a JUMP\.$
EXPECT ^  args: f \*vfs\.File AX, p \[\]uint8 BX CX DI, w vfs\.Waiter SI R8$
EXPECT ^  returns: n int AX, err error BX CX$
EXPECT ^  \+0x0 +49 3b 66 10 +CMPQ SP, 0x10\(R14\)$
EXPECT stack check
EXPECT ^  pre-handler +JUMP
EXPECT ^  with post-handler +INT3 +single-stepped
EXPECT ^REGION +10 bytes, 2 instructions
EXPECT ^  before +49 3b 66 10 0f 86
EXPECT ^  INT3 +cc \.\. \.\.
EXPECT ^  JUMP +e9 .. .. .. .. \.\. .*JMP 0x[0-9a-f]+$
EXPECT \[<- DCR -+>\]
EXPECT is reached from its callers$
EXPECT ^DETOUR .* as it would be laid out$
EXPECT JBE \+0x[0-9a-f]+ +; --> morestack$
EXPECT ; --> the trap stack$
EXPECT ; names the probes$
EXPECT CALL 0\(DX\) +; the handlers$
EXPECT MOVQ 0x[0-9a-f]+\(SP\), SP +; <-- the first stack$
EXPECT JMP \+0xa +; --> after check$
EXPECT_NOT WHY NOT|^[0-9a-f]{16}  k

NAME a place that gets no jump says why
RUN explain cpu.Pause
EXPECT hit by an INT3: see WHY NOT\.$
EXPECT ^  pre-handler +INT3 +boosted
EXPECT ^WHY NOT
EXPECT ^  1\. the function ends within the jump's five bytes at \+0x3$
EXPECT_NOT DETOUR

NAME a slide has what matters
RUN explain -s vfs.Read | tee /tmp/slide
RUN wc -l < /tmp/slide
RUN explain -s myprog:main.main | head -2
EXPECT ^sonde/kernel/vfs\.Read\+0x0$
EXPECT ^  pre-handler +JUMP
EXPECT ^  JUMP +e9
EXPECT ^ INT3 at \+0x0 --> #BP --> handlers --> resume \.\.[0-9a-f]{8} --> \+0xa$
EXPECT ^ *(1[0-9]|2[0-4])$
EXPECT ^/bin/myprog:main\.main$
EXPECT_NOT DETOUR|PUSHFQ

NAME an optimized probe is shown as it is
RUN insmod kprobe_example post=0; sleep 0.2; explain vfs.Read
RUN sysctl -w debug.kprobes_optimization=0
RUN explain vfs.Read | grep -v DETOUR
RUN rmmod kprobe_example; sysctl -w debug.kprobes_optimization=1
EXPECT Probed and hit by a JUMP: \[OPTIMIZED\]\.$
EXPECT ^  k  \d+ hits?$
EXPECT ^     pre-handler sonde/examples\.handlerPre$
EXPECT ^  now +e9
EXPECT as it is in memory$
EXPECT Probed and hit by an INT3: see WHY NOT\.$
EXPECT ^  1\. at the moment: sysctl debug\.kprobes-optimization is 0$
EXPECT ^  now +cc

NAME a post-handler keeps the jump out
RUN insmod kprobe_example; sleep 0.1; explain vfs.Read; rmmod kprobe_example
EXPECT ^  1\. at the moment: a probe here has a post-handler$

NAME the middle of an instruction is named with its neighbours
RUN explain vfs.Read+0x1
EXPECT ^explain: sonde/kernel/vfs\.Read\+0x1 is byte 2 of 4 of the instruction at \+0x0, CMPQ SP, 0x10\(R14\): try \+0x0 or \+0x4$
EXPECT_NOT ^[^e]
STATUS 1

NAME an unknown function of a program is named with the file
RUN explain sh:nosuch; explain -p x 1000
EXPECT ^explain: there is no function nosuch in /bin/sh$
EXPECT ^explain: -p takes the number of a process, not "x"$
STATUS 2

NAME an unknown symbol gets near names
RUN explain vfs.Raed
EXPECT ^explain: .*there is no symbol vfs\.Raed \(did you mean sonde/kernel/vfs\.Read\?\)$
STATUS 1

NAME what handles traps is refused
RUN explain kprobes.onBreakpoint
EXPECT ^explain: sonde/kprobes\.onBreakpoint may not be probed: it handles traps: trap\.known -> kprobes\.onBreakpoint$
STATUS 1

NAME data is refused
RUN explain kprobes.states
EXPECT ^explain: sonde/kprobes\.states is data$
STATUS 1

NAME what is no instruction is refused
RUN explain every:1s
EXPECT ^explain: place "every:1s": this is a timer, not a place in the kernel, a place in a program, a source line or a copy of a function$
RUN explain ret:vfs.Read
EXPECT ^explain: ret:vfs\.Read is not an instruction; give the function$
STATUS 2

NAME a line of the source is where control arrives in it
RUN explain kernel/vfs/io.go:32
RUN explain vfs/io.go:117
RUN explain -s vfs/io.go:33
RUN explain vfs/io.go:31; explain io.go:33; explain vfs/oi.go:33; explain vfs/io.go:x
EXPECT ^sonde/kernel/vfs\.Read\+0x0$
EXPECT ^vfs/io\.go:117: 1 of 1 place$
EXPECT ^  (JUMP|INT3)  sonde/kernel/vfs\.\(\*File\)\.WriteWithin\+0x[0-9a-f]+$
EXPECT ^sonde/kernel/vfs\.Read\+0x[1-9a-f][0-9a-f]*$
EXPECT ^explain: line 31 of sonde/kernel/vfs/io\.go has no code; the nearest lines that have some are 22 and 32$
EXPECT ^explain: io\.go is \d files: io/io\.go, .*sonde/linux/syscall/io\.go; give more of the path$
EXPECT ^explain: no source file of the kernel is called vfs/oi\.go \(did you mean sonde/kernel/vfs/io\.go\?\)$
EXPECT ^explain: place "vfs/io\.go:x": "x" after vfs/io\.go is not the number of a line$
STATUS 1

NAME all lines of a function are told as JSON
RUN explain -j vfs.Read; explain -j vfs/io.go:33; explain -j vfs/io.go:23-31; explain -j kprobes.onBreakpoint
RUN explain -j vfs/io.go:9-3; explain -j vfs.Raed; explain -j vfs/oi.go:3
EXPECT ^\{"version":1,"function":"sonde/kernel/vfs\.Read","file":"sonde/kernel/vfs/io\.go","first":32,"last":\d+,"lines":\[\{"line":32,"copies":1,"places":\[\{"symbol":"sonde/kernel/vfs\.Read","offset":0,"way":"jump","why":"","hit":"","args":\["f \*vfs\.File AX",
EXPECT ^\{"version":1,"function":"","file":"sonde/kernel/vfs/io\.go","first":33,"last":33,"lines":\[\{"line":33,"copies":1,"places":\[\{"symbol":"sonde/kernel/vfs\.Read","offset":[1-9]
EXPECT ^\{"version":1,"function":"","file":"sonde/kernel/vfs/io\.go","first":23,"last":31,"lines":\[\]\}$
EXPECT "way":"refused","why":"sonde/kprobes\.onBreakpoint may not be probed: it handles traps: trap\.known -> kprobes\.onBreakpoint"
EXPECT ^explain: -j takes lines as 24-45, not "9-3"$
EXPECT ^explain: there is no symbol vfs\.Raed
EXPECT ^explain: no source file of the kernel is called vfs/oi\.go
STATUS 1

NAME all inlined copies are listed, with those that cannot have a probe
RUN explain inline:sync.(*Mutex).Lock | head -1
RUN explain inline:sync.(*Mutex).Lock
RUN explain inline:tty.New | head -3
RUN explain inline:vfs.Read; explain inline:sync.(*Mutex).Lokc; explain inline:
EXPECT ^inline:sync\.\(\*Mutex\)\.Lock: [1-9]\d\d of [1-9]\d\d copies, and the function$
EXPECT ^  (JUMP|INT3)  sonde/kernel/vfs\.\(\*File\)\.position\+0x[0-9a-f]+$
EXPECT ^  -     \S+\+0x[0-9a-f]+: .*may not be probed
EXPECT ^  (JUMP|INT3)  sync\.\(\*Mutex\)\.Lock$
EXPECT ^inline:tty\.New: 1 of 1 copy$
EXPECT ^sonde/\S+\+0x[0-9a-f]+$
EXPECT ^explain: vfs\.Read is nowhere inlined; give it without inline:$
EXPECT ^explain: no function sync\.\(\*Mutex\)\.Lokc is inlined anywhere \(did you mean sync\.\(\*Mutex\)\.Lock
EXPECT ^explain: place "inline:": the function is missing, as in inline:sync\.\(\*Mutex\)\.Lock$
STATUS 1

NAME a pattern is listed as well
RUN explain vfs.(*File).Read*
EXPECT ^vfs\.\(\*File\)\.Read\*: [2-9] of [2-9] functions$
EXPECT ^  (JUMP|INT3)  sonde/kernel/vfs\.\(\*File\)\.Read$
