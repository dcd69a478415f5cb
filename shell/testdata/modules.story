sonde# dmesg -C
sonde# lsmod -a
kprobe_example          plants a probe
sonde# modinfo kprobe_example
name:        kprobe_example
description: plants a probe
parm:        symbol: function to probe (string, now vfs.Read)
sonde# insmod kprobe_example symbol=vfs.(*File).Read
sonde# lsmod; cat /proc/modules
Name                    Module
kprobe_example          kprobe_example
kprobe_example 0 0 - Live 0x0000000000000000
sonde# insmod kprobe_example
insmod: kprobe_example: already loaded
(status 1)
sonde# rmmod kprobe_example; lsmod
Name                    Module
sonde# rmmod kprobe_example
rmmod: kprobe_example: not loaded
(status 1)
sonde# insmod kprobe-exampel
insmod: kprobe-exampel: no such module (did you mean kprobe_example?)
(status 1)
sonde# insmod kprobe_example sym=x
insmod: kprobe_example: unknown parameter "sym" (known: symbol)
(status 1)
sonde# insmod
insmod: no module given
usage: insmod module [name=NAME] [parameter=value...]
(status 2)
sonde# dmesg
[    0.000000] planted kprobe at vfs.(*File).Read
[    0.000000] kprobe at vfs.(*File).Read unregistered
sonde# dmesg -l err
sonde# dmesg -n 8; dmesg -n warn; dmesg -n 7; dmesg -n 9
dmesg: console level 9: give 1 to 8
(status 1)
sonde# dmesg -c | wc -l; dmesg
2
