# What a user sees at the shell.

NAME help lists the commands
RUN help
EXPECT ^probe +explain glass insmod
EXPECT ^files +ls cat
EXPECT ^in /bin +base64

NAME help tells about one command
RUN help insmod
EXPECT ^usage: insmod module \[name=NAME\] \[parameter=value\.\.\.\]$

NAME echo prints its arguments
RUN echo hello world
EXPECT ^hello world$

NAME an unknown command gives 127
RUN nosuchcommand
EXPECT ^nosuchcommand: command not found$
STATUS 127

NAME the status is that of the last command
RUN nosuchcommand
RUN echo still here, after $?
EXPECT ^still here, after 127$

NAME wrong usage gives 2 and the right one
RUN sleep
EXPECT ^sleep: give one duration$
EXPECT ^usage: sleep seconds$
STATUS 2

NAME output is exactly what was written
RUN echo one; echo two
EXPECT ^one$
EXPECT ^two$
EXPECT_NOT ^\[

NAME the log goes to the console
RUN true
EXPECT_LOG ^\[ *\d+\.\d{6}\] sonde .* booting on 1 CPU,
EXPECT_LOG Command line: -- true$
EXPECT_NOT .

NAME pipes carry output on
RUN dmesg | grep ^[ | head -n 1 | wc -l
RUN help files | grep ^ls | head -n 1
EXPECT ^1$
EXPECT ^ls
ALONE it looks at the log of the boot

NAME and and or look at the status
RUN false && echo no
RUN false || echo yes
EXPECT ^yes$
EXPECT_NOT no

NAME a mistake in the syntax runs nothing
RUN echo one
RUN echo 'two
EXPECT ^sh: line 2: reached EOF without closing quote '
EXPECT_NOT one
STATUS 2
ALONE nothing of the script runs

NAME quotes and redirection
RUN echo 'a; b' > /tmp/x; cat < /tmp/x
EXPECT ^a; b$

NAME sleep takes as long as it says
RUN sleep 0.2 && cat /proc/uptime
EXPECT ^\d+\.[2-9]\d |^[1-9]\d*\.\d\d

NAME uname tells the system
RUN uname -a
EXPECT ^sonde sonde \S+ go1\.\d+\S* x86_64$

NAME the date is that of the machine's clock
RUN date
EXPECT ^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d UTC 20\d\d$

NAME ps lists the kernel's threads
RUN sleep 1; ps
EXPECT ^ +ID CPU STAT +AGE NAME +WAITS FOR$
EXPECT ^ +\d+ +- S +0:00:\d\d kprobe-optimizer +[a-z]
EXPECT ^ +\d+ +\d R +0:00:\d\d script$

NAME free adds up the memory
RUN free -m
MEM 512M
EXPECT ^ +total +used +free +heap +stack +programs +available$
EXPECT ^Mem: +4[789]\d +\d+ +4\d\d

NAME lscpu counts the processors
RUN lscpu
SMP 3
EXPECT ^CPU\(s\): +3$
EXPECT ^On-line CPU\(s\) list: 0,1,2$
EXPECT ^Flags: +fpu .*\bapic .*\bsse2 .*\bsyscall nx .*\blm .*\bhypervisor\b

NAME cpuinfo has the flags of every processor
RUN grep -c '^flags' /proc/cpuinfo
RUN cat /proc/cpuinfo
SMP 3
EXPECT ^3$
EXPECT ^flags\t\t: fpu .*\blm\b

NAME the shell runs on microvm with four processors
RUN echo hello
EXPECT ^hello$
MACHINE microvm
SMP 4

NAME dmesg shows the log and can forget it
RUN dmesg | grep -c booting
RUN dmesg -c | wc -l
RUN dmesg | wc -l
EXPECT ^2$
EXPECT ^[1-9]\d*$
EXPECT ^0$
ALONE it looks at the log of the boot

NAME dmesg can show what is urgent only
RUN crash int3
RUN dmesg -l warn
EXPECT unexpected int3 at .*$
EXPECT_NOT booting

NAME the console can be told to show less
RUN dmesg -C
RUN dmesg -n 1; crash int3; dmesg -n 7; crash int3
RUN dmesg | grep -c int3
EXPECT ^2$
EXPECT_LOG unexpected int3 at .*$

NAME quiet keeps notes off the console
RUN dmesg
EXPECT sonde .* booting
APPEND quiet

NAME an unexpected int3 is reported and survived
RUN crash int3
RUN echo alive
EXPECT ^alive$
EXPECT_LOG unexpected int3 at sonde/arch/amd64/trap\.Breakpoint\S*$
