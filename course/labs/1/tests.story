# The tests of lab 1 that students can see.

NAME a probe comes with insmod and goes with rmmod
ID builds
POINTS 1
PICK fn Letter Parcel Crate Stamp Scale
RUN insmod lab1 symbol=load.{fn}
RUN insmod work do=probes
RUN rmmod work
RUN rmmod lab1
RUN insmod work name=after do=probes
RUN dmesg
TRUE probes 1 in the kernel's list of probes while the module is loaded
TRUE at sonde/course/load.{fn} has the probe
TRUE after.probes 0 in the list after rmmod
EXPECT_NOT may be abandoned
EXPECT_NOT forgot .*, which is unregistered
READ introduction, "Registering"

NAME {n} calls on one CPU
ID count
POINTS 2
SMP 1
DRAW n 500 1500
PICK fn Letter Parcel Crate Stamp Scale
RUN insmod lab1 symbol=load.{fn}
RUN insmod work do=calls,{fn},{n},1
RUN insmod work name=after do=probes
RUN rmmod lab1
RUN dmesg
WANT lab1: {n} calls
TRUE after.entered {n} hits of the probe
READ introduction, "The handler"

NAME each CPU's calls
ID cpus
POINTS 1
SMP 2
DRAW n 500 1500
PICK fn Letter Parcel Crate Stamp Scale
RUN insmod lab1 symbol=load.{fn}
RUN insmod work do=calls,{fn},{n},2
RUN rmmod lab1
RUN dmesg
WANT lab1: CPU 0: {work.cpu0}
WANT lab1: CPU 1: {work.cpu1}
READ introduction, "Which CPU?"

NAME a function that does not exist
ID error
POINTS 1
DRAW n 10 99
RUN insmod work do=refuse,load.Lettre{n}
RUN insmod lab1 symbol=load.Lettre{n} 2>&1
RUN lsmod
WANT insmod: lab1: {work.refusal}
EXPECT_NOT ^lab1\s
READ introduction, "Errors"
