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
RUN sh -c "exit 7" & wait $!; echo then it was $?
RUN nm /bin/myprog | grep myfunc
RUN myprog -every 10ms | head -n 2 | wc -l
RUN strace myprog -n 1 2>&1 | tail -n 1
EXPECT ^its status is 0$
EXPECT ^then it was 7$
EXPECT ^[0-9a-f]+ T myfunc$
EXPECT ^2$
EXPECT ^\+\+\+ exited with 0 \+\+\+$
