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
EXPECT ^@: 2$
EXPECT ^@: 1$
EXPECT ^status 5$
EXPECT ^there$
EXPECT ^here$
EXPECT ^bt: none.bt: no such file or directory$
RUN /bin/sh -c 'bt -e "kprobe:vfs.Reed { }"; echo then $?'
EXPECT ^HINT: did you mean vfs.Read\?$
EXPECT ^then 1$

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
