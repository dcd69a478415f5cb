# What a user sees of Linux programs at the shell.

NAME a program in the background
SMP 1
RUN myprog & sleep 1; ps; jobs; kill %1; wait; cat /proc/version
EXPECT ^ +PID CPU TTY +STAT +TIME COMMAND$
EXPECT ^ +\d+ +\S \S+ +[RS]l? +\d+:\d\d myprog$
EXPECT ^\[1\]\+  Running                 myprog &$
EXPECT ^sonde version

NAME its process is known to the next commands
SMP 2
RUN myprog -n 1 & wait $!; echo its status is $?
RUN /bin/sh -c "exit 7" & wait $!; echo then it was $?
RUN nm /bin/myprog | grep myfunc
RUN myprog -every 10ms | head -n 2 | wc -l
RUN strace myprog -n 1 2>&1 | tail -n 1
EXPECT ^its status is 0$
EXPECT ^then it was 7$
EXPECT ^[0-9a-f]+ T myfunc$
EXPECT ^2$
EXPECT ^\+\+\+ exited with 0 \+\+\+$

NAME bt is a command of the shell for programs, too
SMP 2
RUN /bin/sh -c 'cd /tmp; for f in Read Write; do bt -q -c "/bin/cat /proc/uptime > /dev/null" -e "kprobe:vfs.$f { @ = count(); }" | grep @; done; echo "BEGIN { printf(\"%s\n\", str(\$1)); exit(5); }" > x.bt; bt -o y x.bt there; echo status $?; cat y; bt - here < x.bt; bt none.bt'
EXPECT ^@: 3$
EXPECT ^@: 1$
EXPECT ^status 5$
EXPECT ^there$
EXPECT ^here$
EXPECT ^bt: /tmp/none.bt: no such file or directory$
RUN /bin/sh -c 'bt -e "kprobe:vfs.Reed { }"; echo then $?'
EXPECT ^HINT: did you mean vfs.Read\?$
EXPECT ^then 1$

NAME the kernel's commands are programs
SMP 2
RUN /bin/sh -c 'for f in vfs.Read vfs.Write; do explain $f; done | grep -c ^sonde/kernel/vfs'
RUN /bin/sh -c 'insmod funclatency target=vfs.Open && cat /proc/version > /dev/null && rmmod funclatency; echo status $?'
RUN echo vfs.Read > /tmp/places; xargs explain < /tmp/places | head -n 1
RUN /bin/sh -c 'printf "a\nb\n" | while read x; do echo line $x; explain vfs.Read > /dev/null; done; echo xyz | hexdump | grep xyz; explain vfs.Reed; echo wrong $?'
RUN /bin/sh -c 'cd /tmp; FROM=here bt -q -c "env" -e "BEGIN { }" | grep FROM; bt -q -o y -e "BEGIN { printf(\"in a file\\n\"); }" -c true; cat y'
EXPECT ^2$
EXPECT ^status 0$
EXPECT ^sonde/kernel/vfs.Read\+0x0$
EXPECT ^line a$
EXPECT ^line b$
EXPECT \|xyz.\|$
EXPECT did you mean
EXPECT ^wrong 1$
EXPECT ^FROM=here$
EXPECT ^in a file$

NAME many of them run at the same time, each with its own output
SMP 4
RUN for i in 1 2 3 4 5 6 7 8; do /bin/sh -c "for p in vfs.Read vfs.Write vfs.Open; do explain \$p; done > /tmp/of$i" & done; wait
RUN for i in 1 2 3 4 5 6 7 8; do shasum < /tmp/of$i; done | uniq | wc -l; grep -c ^sonde /tmp/of1
EXPECT ^1$
EXPECT ^3$

NAME one whose program is killed ends, and leaves nothing
SMP 2
RUN /bin/kwatch w@printk.consoleLevel > /tmp/w 2>&1 & /bin/sh -c 'until grep -q register /tmp/w; do sleep 0.1; done'; kill -KILL $!; wait; sleep 1; grep consoleLevel /sys/kernel/debug/kwatch/list || echo no watchpoint is left
EXPECT ^no watchpoint is left$

NAME the command of its script ends with it
SMP 2
RUN /bin/sh -c 'bt -q -e "i:ms:100 { exit(); }" -c "/bin/sleep 1000"'; sleep 1; ps | grep sleep || echo it has ended
EXPECT ^it has ended$

NAME SIGINT ends its script, which prints what it has; SIGKILL ends both
SMP 2
RUN /bin/bt -q -e 'BEGIN { printf("begun\n"); } kprobe:vfs.Read { @ = count(); } END { printf("bye\n"); }' > /tmp/o & /bin/sh -c 'until grep -q begun /tmp/o; do sleep 0.1; done'; kill -INT $!; wait; cat /tmp/o
EXPECT ^bye$
EXPECT ^@: \d+$
RUN /bin/bt -q -e 'BEGIN { printf("begun\n"); } kprobe:vfs.Write { @ = count(); }' > /tmp/p & /bin/sh -c 'until grep -q begun /tmp/p; do sleep 0.1; done'; bpf prog; kill -KILL $!; wait; sleep 1; bpf prog | grep bt || echo no program is left; grep vfs /sys/kernel/debug/kprobes/list || echo no probe is left
EXPECT name bt2
EXPECT ^no program is left$
EXPECT ^no probe is left$
