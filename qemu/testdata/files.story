# Files, /proc and sysctl.

NAME echo writes to a file
RUN echo hello > /tmp/x
RUN echo again >> /tmp/x
RUN cat /tmp/x
EXPECT ^hello$
EXPECT ^again$

NAME ls shows a new file
RUN echo x > /tmp/new
RUN ls /tmp
EXPECT ^new$

NAME directories come and go
RUN mkdir /tmp/d && echo x > /tmp/d/f
RUN rm /tmp/d || echo refused
RUN rm /tmp/d/f /tmp/d && ls /tmp
EXPECT ^rm: /tmp/d: directory not empty$
EXPECT ^refused$
EXPECT_NOT ^d$

NAME cat of a missing file fails
RUN cat /tmp/missing
EXPECT ^cat: /tmp/missing: no such file or directory$
STATUS 1

NAME a read-only file cannot be written
RUN echo 1 > /proc/version
EXPECT ^echo: /proc/version: this file can only be read$
STATUS 1

NAME nothing can be added to /proc
RUN echo 1 > /proc/new
EXPECT ^echo: /proc/new: only the kernel makes and removes names in this directory$
STATUS 1

NAME proc has what a user of Linux looks for
RUN ls /proc
EXPECT ^cmdline$
EXPECT ^cpuinfo$
EXPECT ^interrupts$
EXPECT ^kallsyms$
EXPECT ^meminfo$
EXPECT ^modules$
EXPECT ^uptime$
EXPECT ^version$

NAME uptime is two numbers
RUN cat /proc/uptime
EXPECT ^\d+\.\d\d \d+\.\d\d$

NAME cmdline is what the loader was told
RUN cat /proc/cmdline
EXPECT ^debug x=1 -- cat /proc/cmdline$
APPEND debug x=1

NAME cpuinfo has a block per processor
RUN grep -c ^processor /proc/cpuinfo
SMP 2
EXPECT ^2$

NAME meminfo is in kB
RUN cat /proc/meminfo
EXPECT ^MemTotal: +\d+ kB$
EXPECT ^MemFree: +\d+ kB$

NAME kallsyms has the format of Linux
RUN cat /proc/kallsyms
EXPECT ^[0-9a-f]{16} T sonde/kernel/vfs\.Read$
EXPECT ^[0-9a-f]{16} T pvhentry$
EXPECT_NOT ^[^0-9a-f]
EXPECT_NOT ^.{16}[^ ]
EXPECT_NOT ^.{17}[^A-Za-z]

NAME interrupts are counted per processor
RUN sleep 0.1; cat /proc/interrupts
SMP 2
EXPECT ^           CPU0       CPU1       $
EXPECT ^  4: +\d+ +\d+  IO-APIC   4-edge      ttyS0$
EXPECT ^LOC: +\d+ +\d+   Local timer interrupts$

NAME an unknown sysctl is an error
RUN sysctl kernel.no_such
EXPECT ^sysctl: there is no parameter kernel\.no_such; sysctl -a lists all$
STATUS 1

NAME files of the kernel end, but those that wait for more
RUN find -type f /proc > /tmp/l 2> /dev/null; find -type f /sys >> /tmp/l; for f in $(cat /tmp/l); do case $f in */trace_pipe|*/trace_pipe_raw|*/kmsg) ;; *) head -n 1 $f > /dev/null 2>&1 ;; esac; done; echo all read
EXPECT ^all read$
