# What two ways of counting the same thing say.

NAME funccount, bt and stackcount count the same calls
RUN funccount -c '/bin/cat /proc/uptime > /dev/null' 'vfs.Read*'
RUN bt -q -e 'kprobe:vfs.Read { @bt = count(); }' -c '/bin/cat /proc/uptime > /dev/null'
RUN bt -q -e 'kprobe:vfs.Read* { @of[probe] = count(); }' -c '/bin/cat /proc/uptime > /dev/null'
RUN stackcount -c '/bin/cat /proc/uptime > /dev/null' vfs.Read 2
EXPECT ^@\[vfs\.Read\]: 3$
EXPECT ^@bt: 3$
EXPECT ^@of\[kprobe:vfs\.Read\]: 3$
EXPECT ^ {4}vfs\.Read\+\d+$
EXPECT ^\]: 3$

NAME syscount and strace count the same calls
RUN syscount -c '/bin/cat /proc/uptime > /dev/null'
RUN strace -c /bin/cat /proc/uptime
EXPECT ^@\[openat\]: 3$
EXPECT ^ .* 3 +1 openat$
EXPECT_NOT unexplained

NAME help tells what a tool takes
RUN help argdist
EXPECT argdist \[-dvS\] \[-f FILTER\] \[-i SECONDS\] \[-c COMMAND\] \[-p PID\] PLACE \[VALUE=arg0\]
EXPECT the distribution of an argument
