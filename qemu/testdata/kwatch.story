# Watchpoints: the command, the file and the module.

NAME a write shows both values and who wrote
RUN kwatch w@printk.consoleLevel dmesg -n 5
EXPECT ^kwatch: w sonde/kernel/printk\.consoleLevel\+0x0, length 4, in debug register 0$
EXPECT ^0x0 → 0x5  sonde/kernel/printk\.SetConsoleLevel\+0x[0-9a-f]+  kernel/printk/dmesg\.go:\d+  goroutine \d+  CPU \d$

NAME the first so many executions are shown
RUN kwatch -n 2 x@vfs.Read cat /proc/uptime
EXPECT ^sonde/kernel/vfs\.Read\+0x0  kernel/vfs/io\.go:\d+  goroutine \d+  CPU \d$

NAME what cannot be watched is refused with the reason
RUN kwatch w@vfs.Read
EXPECT ^kwatch: w sonde/kernel/vfs\.Read\+0x0: this address is not kernel data$
RUN kwatch x@sonde/arch/amd64/trap.takeDebug
EXPECT ^kwatch: x sonde/arch/amd64/trap\.takeDebug\+0x0: hits execute this code: it handles traps
RUN kwatch rw@printk.consoleLevel:3
EXPECT the length is 3, not 1, 2, 4 or 8$
RUN kwatch w@0xffffffc000000000
EXPECT it is in the heap
STATUS 1

NAME places that are none are refused with the reason
RUN kwatch q@vfs.Read
EXPECT ^kwatch: place "q@vfs\.Read": "q" before @ is not an access; give w, rw, r or x$
RUN kwatch vfs.Read
EXPECT ^kwatch: place "vfs\.Read": this is a place in the kernel, not a watchpoint; give the access and what is watched, as in w@printk.consoleLevel$
RUN kwatch w@printk.consoleLevel+0x1x
EXPECT "0x1x" behind printk.consoleLevel\+ is not an offset; give a number of bytes
RUN kwatch 99:w@0x1000:8
EXPECT ^kwatch: there is no process 99$
RUN kwatch -p x w@0x1000:8
EXPECT ^kwatch: -p takes the number of a process, not "x"$
STATUS 2

NAME the module prints value and stack
RUN insmod data_watch_example
RUN cat /sys/kernel/debug/kwatch/list
RUN dmesg -n 5
RUN rmmod data_watch_example
RUN dmesg
EXPECT ^0   w  4   [0-9a-f]{16} +0 +0 +0 +0 +0 +0 +0  sonde/kernel/printk\.consoleLevel\+0x0  data_watch_example$
EXPECT sonde/kernel/printk\.consoleLevel is written: 0x0 -> 0x5, ip=
EXPECT   sonde/kernel/printk\.SetConsoleLevel\+0x
EXPECT Watch point for sonde/kernel/printk\.consoleLevel unregistered$
ALONE others leave another level

NAME the variable of a program has a name, and so has what writes it
RUN kwatch w@/bin/myprog:main.counter myprog -n 2 -every 1ms; echo status $?
EXPECT ^kwatch: w 0x[0-9a-f]+ of process \d+, length 8, in debug register 0$
EXPECT ^0x0 → 0x1  main\.myprog\+0x[0-9a-f]+  sonde/user/myprog\.go:\d+  thread \d+$
EXPECT ^0x1 → 0x2  main\.myprog\+0x[0-9a-f]+  sonde/user/myprog\.go:\d+  thread \d+$
EXPECT ^status 0$
RUN kwatch w@/bin/myprog:main.nosuch myprog -n 1; kwatch w@/etc/passwd:x myprog -n 1; kwatch w@/bin/myprog:main.counter; kwatch w@/bin/myprog:main.counter nosuch; kwatch w@/bin/nosuch:x /bin/nosuch; true
EXPECT ^kwatch: /bin/myprog: there is no variable main.nosuch$
EXPECT ^kwatch: /etc/passwd: not a program: 
EXPECT ^kwatch: w@/bin/myprog:main.counter is in a program: give the program and its arguments behind it, or -p PID$
EXPECT ^kwatch: nosuch: no such file or directory$
EXPECT ^kwatch: /bin/nosuch: no such file or directory$
