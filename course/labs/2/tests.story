# The tests of lab 2 that students can see.

NAME a return probe comes with insmod and goes with rmmod
ID builds
POINTS 1
RUN insmod lab2
RUN insmod work do=probes
RUN rmmod work
RUN rmmod lab2
RUN insmod work name=after do=probes
RUN dmesg
TRUE probes 1 in the kernel's list of probes while the module is loaded
TRUE at sonde/kernel/vfs.Write has the probe
TRUE after.probes 0 in the list after rmmod
EXPECT_NOT may be abandoned
EXPECT_NOT forgot .*, which is unregistered
READ introduction, "What a handler may not do"

NAME {files} files: bytes asked and written
ID sums
POINTS 3
SMP 2
DRAW seed 1 99999
DRAW files 12 25
RUN insmod lab2
RUN insmod work do=writes,{seed},{files},2,plain
RUN rmmod lab2
RUN dmesg
WANT lab2: {work.file1}
WANT lab2: {work.file2}
WANT lab2: {work.file5}
WANT lab2: {work.file10}
WANT lab2: {work.other}
READ introduction, "Arguments"

NAME {files} files, of which some take only a part
ID short
POINTS 2
SMP 2
DRAW seed 1 99999
DRAW files 15 28
RUN insmod lab2
RUN insmod work do=writes,{seed},{files},2,short
RUN rmmod lab2
RUN dmesg
WANT lab2: {work.file1}
WANT lab2: {work.file2}
WANT lab2: {work.file3}
WANT lab2: {work.file4}
WANT lab2: {work.file5}
WANT lab2: {work.file6}
READ introduction, "Results"
