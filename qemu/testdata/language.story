# The language of the shell, on the kernel: programs and commands in loops, pipes and functions, and
# scripts that take too much.

NAME programs and commands are alike in loops and pipes
RUN for i in 1 2; do myprog -n $i -every 1ms | grep -c myfunc; done
RUN n=$(myprog -n 3 -every 1ms | wc -l); echo $((n*2))
RUN seq 3 | while read x; do echo "<$x>"; done | tail -1
RUN f() { echo "$# $1"; /bin/false; }; f a 'b c' || echo $?
RUN cd /bin; ./echo $PWD; HI=there env | grep HI; cd; pwd
SMP 4
EXPECT ^1$
EXPECT ^2$
EXPECT ^6$
EXPECT ^<3>$
EXPECT ^2 a$
EXPECT ^/bin$
EXPECT ^HI=there$
EXPECT ^/$

NAME probes are placed by scripts
RUN for f in vfs.Read vfs.Write; do insmod kprobe_example name=${f#*.} symbol=$f post=0; done
RUN lsmod | grep -c kprobe_example
RUN for f in vfs.*; do echo $f; done; explain vfs.(*File).Read | head -1
RUN for m in $(lsmod | tail -2 | while read n m; do echo $n; done); do rmmod $m; done; lsmod | wc -l
SMP 2
EXPECT ^2$
EXPECT ^vfs\.\*$
EXPECT ^sonde/kernel/vfs\.\(\*File\)\.Read
EXPECT ^1$

NAME a script is a file, and so is a program
RUN printf '#!/bin/sh\necho ring three $1\n' > /tmp/three; printf 'lsmod | wc -l; exit 4\n' > /tmp/zero
RUN chmod 755 /tmp/three /tmp/zero; /tmp/three a; /tmp/zero; echo $?; (/tmp/zero) || sh -c 'trap "echo bye" EXIT; exit 2'
EXPECT ^ring three a$
EXPECT ^1$
EXPECT ^4$
EXPECT ^bye$
STATUS 2

NAME scripts cannot take the kernel down
RUN (f() { f; }; f)
RUN x=ab; while :; do x=$x$x || break; done
RUN echo {1..1000000000}; x=$(cat /dev/zero); eval "$(printf '(%.0s' {1..3000})"
RUN g() { g & g & }; g; h() { h | h; }; h
RUN sleep 1; echo alive; free -m | grep -c Mem
SMP 4
EXPECT ^sh: commands are nested too deeply$
EXPECT ^sh: the words would become larger than
EXPECT ^echo: the words would become larger than
EXPECT ^sh: the output of \$\( \) has more than
EXPECT ^sh: more than 250 parts
EXPECT ^alive$
EXPECT ^1$
