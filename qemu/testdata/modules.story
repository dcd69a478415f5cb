# insmod, rmmod and lsmod.

NAME modules are listed while they are loaded
RUN lsmod
RUN insmod kprobe_example
RUN lsmod
RUN cat /proc/modules
EXPECT ^Module +Size +Used by$
EXPECT ^Module +Size +Used by$
EXPECT ^kprobe_example +0 +0$
EXPECT ^kprobe_example 0 0 - Live 0x0{16}$

NAME a module is gone after rmmod
RUN insmod kprobe_example
RUN rmmod kprobe_example
RUN lsmod
EXPECT ^Module +Size +Used by$
EXPECT_NOT ^kprobe_example

NAME lsmod -a lists what there is to load
RUN lsmod -a
EXPECT ^kprobe_example +\S

NAME modinfo explains the parameters
RUN modinfo kprobe_example
EXPECT ^name: +kprobe_example$
EXPECT ^parm: +offset: .*\(uint, now 0\)$
EXPECT ^parm: +post: .*\(bool, now y\)$
EXPECT ^parm: +symbol: .*\(string, now sonde/kernel/vfs\.Read\)$

NAME an unknown parameter is refused with the known ones
RUN insmod kprobe_example sym=x
EXPECT ^insmod: module kprobe_example: unknown parameter "sym" \(known: offset, post, symbol\)
STATUS 1

NAME a value of the wrong type is refused
RUN insmod kprobe_example offset=far
EXPECT ^insmod: module kprobe_example: .*offset=far: not a valid uint
STATUS 1

NAME an unknown module is refused with near names
RUN insmod kprobe_exampel
EXPECT ^insmod: module kprobe_exampel: no such module, perhaps kprobe_example
STATUS 1

NAME loading twice is refused
RUN insmod kprobe_example
RUN insmod kprobe_example
EXPECT ^insmod: module kprobe_example: already loaded: file exists$
STATUS 1

NAME rmmod of what is not loaded is refused
RUN rmmod kprobe_example
EXPECT ^rmmod: module kprobe_example: not loaded
STATUS 1
