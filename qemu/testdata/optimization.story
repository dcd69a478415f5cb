# Probes that are hit by a jump: kprobes.txt §1.4 and appendix B.

NAME the jump comes by itself and goes by sysctl
RUN insmod kprobe_example symbol=vfs.Read post=0; sleep 0.2; cat /sys/kernel/debug/kprobes/list
RUN sysctl -w debug.kprobes_optimization=0; cat /sys/kernel/debug/kprobes/list
RUN sysctl -w debug.kprobes-optimization=1; sleep 0.2; cat /sys/kernel/debug/kprobes/list
SMP 2
EXPECT ^[0-9a-f]{16}  k  sonde/kernel/vfs\.Read\+0x0    \[OPTIMIZED\]$
EXPECT ^debug\.kprobes-optimization = 0$
EXPECT ^[0-9a-f]{16}  k  sonde/kernel/vfs\.Read\+0x0$
EXPECT ^debug\.kprobes-optimization = 1$
EXPECT ^[0-9a-f]{16}  k  sonde/kernel/vfs\.Read\+0x0    \[OPTIMIZED\]$

NAME an optimized probe shows every hit
RUN dmesg -C
RUN insmod kprobe_example symbol=vfs.Open post=0; sleep 0.2
RUN cat /proc/version; cat /sys/kernel/debug/kprobes/list
RUN rmmod kprobe_example; dmesg | grep -c pre_handler
EXPECT ^sonde version
EXPECT \[OPTIMIZED\]$
EXPECT ^2$

NAME switched off, new probes stay breakpoints
RUN echo n > /proc/sys/debug/kprobes-optimization; cat /proc/sys/debug/kprobes-optimization
RUN insmod kprobe_example symbol=vfs.Read post=0; sleep 0.2; cat /sys/kernel/debug/kprobes/list
RUN echo y > /proc/sys/debug/kprobes-optimization; sleep 0.2; cat /sys/kernel/debug/kprobes/list
EXPECT ^0$
EXPECT vfs\.Read\+0x0$
EXPECT \[OPTIMIZED\]$

NAME other values of the sysctl are refused
RUN sysctl -w debug.kprobes_optimization=maybe
EXPECT ^sysctl: .*maybe
STATUS 1

NAME a post-handler at an optimized place takes the jump away
RUN insmod kretprobe_example; sleep 0.2; cat /sys/kernel/debug/kprobes/list
RUN insmod kprobe_example; cat /sys/kernel/debug/kprobes/list
RUN rmmod kprobe_example; sleep 0.2; cat /sys/kernel/debug/kprobes/list
EXPECT   r  sonde/kernel/vfs\.Read\+0x0    \[OPTIMIZED\]$
EXPECT   r  sonde/kernel/vfs\.Read\+0x0$
EXPECT   k  sonde/kernel/vfs\.Read\+0x0$
EXPECT   r  sonde/kernel/vfs\.Read\+0x0    \[OPTIMIZED\]$
ALONE others leave their module

NAME a jprobe at an optimized place takes the jump away
RUN insmod kretprobe_example; sleep 0.2; insmod jprobe_example; sleep 0.2; cat /sys/kernel/debug/kprobes/list
RUN rmmod jprobe_example; sleep 0.2; cat /sys/kernel/debug/kprobes/list
EXPECT   r  sonde/kernel/vfs\.Read\+0x0$
EXPECT   j  sonde/kernel/vfs\.Read\+0x0$
EXPECT   r  sonde/kernel/vfs\.Read\+0x0    \[OPTIMIZED\]$

NAME a probe inside the region takes the jump away
RUN insmod kretprobe_example; sleep 0.2
RUN insmod kprobe_example symbol=vfs.Read offset=4 post=0; cat /sys/kernel/debug/kprobes/list
RUN explain vfs.Read
RUN rmmod kprobe_example; sleep 0.2; cat /sys/kernel/debug/kprobes/list
EXPECT   r  sonde/kernel/vfs\.Read\+0x0$
EXPECT   k  sonde/kernel/vfs\.Read\+0x4
EXPECT   1\. at the moment: another probe is at \+0x4$
EXPECT   r  sonde/kernel/vfs\.Read\+0x0    \[OPTIMIZED\]$

NAME what is switched off has no jump, and gets it back
RUN insmod kretprobe_example; sleep 0.2
RUN echo 0 > /sys/kernel/debug/kprobes/enabled; explain vfs.Read
RUN echo 1 > /sys/kernel/debug/kprobes/enabled; sleep 0.2; cat /sys/kernel/debug/kprobes/list
EXPECT ^  1\. at the moment: all probes are switched off
EXPECT \[OPTIMIZED\]$

NAME a place that cannot be optimized is hit all the same
RUN explain cpu.CPUID.abi0+0x1a
RUN insmod kprobe_example symbol=cpu.CPUID.abi0 offset=26 post=0; sleep 0.2; cat /sys/kernel/debug/kprobes/list
RUN dmesg -C; lscpu > /tmp/x; rmmod kprobe_example; dmesg
EXPECT ^  \+0x1a +c3 +RET$
EXPECT ^  1\. the function ends within the jump's five bytes
EXPECT ^[0-9a-f]{16}  k  sonde/kernel/cpu\.CPUID\.abi0\+0x1a$
EXPECT pre_handler

NAME histograms are fused, and count the same when they are not
RUN bt -e 'kprobe:vfs.Write { @ = lhist(arg2, 900, 960, 7); }' -c 'until explain vfs.Write | grep Probed | grep " fused"; do sleep 0.05; done; for i in 900 906 907 959 960; do for j in 1 2 3 4; do printf %${i}d 1 > /dev/null; done; done'
EXPECT hit by a JUMP to the program itself: \[OPTIMIZED\], fused\.$
EXPECT ^\[900, 907\) +8 
EXPECT ^\[907, 914\) +4 
EXPECT ^\[949, 956\) +0 
EXPECT ^\[956, 960\) +4 
RUN bt -e 'kprobe:vfs.Write { @ = hist(arg2 * 10000000); }' -c 'until explain vfs.Write | grep Probed | grep " fused"; do sleep 0.05; done; for i in 900 959; do for j in 1 2 3 4; do printf %${i}d 1 > /dev/null; done; done'
EXPECT hit by a JUMP to the program itself: \[OPTIMIZED\], fused\.$
EXPECT ^\[8G, 16G\) +8 
RUN sysctl -w debug.kprobes-fused=0
RUN bt -e 'kprobe:vfs.Write { @ = lhist(arg2, 900, 960, 7); }' -c 'until explain vfs.Write | grep Probed | grep "fused is 0"; do sleep 0.05; done; for i in 900 906 907 959 960; do for j in 1 2 3 4; do printf %${i}d 1 > /dev/null; done; done'
EXPECT Not fused: debug\.kprobes-fused is 0\.$
EXPECT ^\[900, 907\) +8 
EXPECT ^\[907, 914\) +4 
EXPECT ^\[949, 956\) +0 
EXPECT ^\[956, 960\) +4 
RUN sysctl -w debug.kprobes-fused=1

NAME sums by CPU are fused
RUN bt -e 'kprobe:vfs.Write { @[cpu] = count(); }' -c 'until explain vfs.Write | grep Probed | grep " fused"; do sleep 0.05; done'
EXPECT hit by a JUMP to the program itself: \[OPTIMIZED\], fused\.$
EXPECT ^@\[[01]\]: [1-9]
RUN bt -e 'kprobe:vfs.Write { @[7] = sum(arg2); }' -c 'until explain vfs.Write | grep Probed | grep " fused"; do sleep 0.05; done; for i in 1 2 3 4; do printf %9000d 1 > /dev/null; done'
EXPECT hit by a JUMP to the program itself: \[OPTIMIZED\], fused\.$
EXPECT ^@\[7\]: [3-9]\d{4}$
