# The tests of lab 3 that students can see.

NAME a return probe comes with insmod and goes with rmmod
ID builds
POINTS 1
PICK fn Van Train
RUN insmod lab3 symbol=load.{fn}
RUN insmod work do=probes
RUN rmmod work
RUN rmmod lab3
RUN insmod work name=after do=probes
RUN dmesg
TRUE probes 1 in the kernel's list of probes while the module is loaded
TRUE at sonde/course/load.{fn} has the probe
TRUE after.probes 0 in the list after rmmod
EXPECT_NOT may be abandoned
EXPECT_NOT forgot .*, which is unregistered
READ introduction, "A probe on the return"

NAME {n} calls, one after another
ID calls
POINTS 3
SMP 1
DRAW n 100 200
DRAW ns 40000 300000
PICK fn Van Train
RUN insmod lab3 symbol=load.{fn}
RUN insmod work do=times,{fn},{n},1,{ns},1
RUN rmmod lab3
RUN dmesg
WANT lab3: {n} calls, 0 missed
BETWEEN inside outside
READ introduction, "The histogram"

NAME {n} calls that nest {d} deep
ID nest
POINTS 3
SMP 1
DRAW n 20 60
DRAW d 3 6
DRAW ns 30000 60000
PICK fn Van Train
RUN insmod lab3 symbol=load.{fn}
RUN insmod work do=times,{fn},{n},{d},{ns},1
RUN rmmod lab3
RUN dmesg
BETWEEN inside outside
READ introduction, "Which call?"

NAME calls that never return are counted
ID panic
POINTS 1
SMP 1
DRAW n 5 30
PICK fn Van Train
RUN insmod lab3 symbol=load.{fn}
RUN insmod work do=panics,{fn},{n},1
RUN rmmod lab3
RUN dmesg
WANT lab3: 0 calls, {n} missed
READ introduction, "Calls that do not come back"
