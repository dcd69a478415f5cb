sonde# uname; uname -a; uname -rm
sonde
sonde probe 0.1 #1 SMP x86_64
0.1 x86_64
sonde# date; date +%s
Fri Jan  2 03:04:05 UTC 2026
1767323045
sonde# uptime
 03:04:05 up  3:25,  load average: 0.50, 0.25, 0.00
sonde# free
            total        used        free        heap       stack    programs   available
Mem:       131072       28672      102400        1536          64        2048      103424
sonde# free -h
            total        used        free        heap       stack    programs   available
Mem:        128Mi        28Mi       100Mi       1.5Mi        64Ki       2.0Mi       101Mi
sonde# free -m
            total        used        free        heap       stack    programs   available
Mem:          128          28         100           1           0           2         101
sonde# lscpu
Architecture:        x86_64
CPU(s):              2
On-line CPU(s) list: 0
Vendor ID:           GenuineIntel
Model name:          QEMU Virtual CPU
CPU family:          15
Model:               0
Stepping:            0
CPU MHz:             2400.000
Flags:               fpu tsc
sonde# ps
     ID CPU STAT       AGE NAME                 WAITS FOR
      1   0 R      1:00:00 init
      2   - S      0:01:01 rcu                  select
sonde# sleep 0; sleep 1us
sonde# sleep
sleep: give one duration
usage: sleep seconds
(status 2)
sonde# sleep soon
sleep: "soon" is not a duration
usage: sleep seconds
(status 2)
sonde# reboot
reboot: the keyboard controller does not answer
(status 1)
sonde# poweroff
poweroff: function not implemented
(status 1)
sonde# poweroff now
poweroff: takes no arguments
usage: poweroff
(status 2)
