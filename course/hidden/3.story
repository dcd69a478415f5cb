# The hidden tests of lab 3.

NAME {n} calls of {g} goroutines that change their CPUs
ID move
POINTS 2
SMP 4
DRAW n 150 300
DRAW g 16 40
DRAW ns 300000 2000000
PICK fn Train Van
RUN insmod lab3 symbol=load.{fn}
RUN insmod work do=times,{fn},{n},1,{ns},{g}
RUN rmmod lab3
RUN dmesg
WANT lab3: {n} calls, 0 missed
BETWEEN inside outside
READ introduction, "How many at the same time?"

NAME nested calls, and then {n} panics through {d} of them
ID through
POINTS 2
SMP 2
DRAW n 3 9
DRAW d 2 5
DRAW c 10 30
DRAW ns 20000 90000
PICK fn Train Van
RUN insmod lab3 symbol=load.{fn}
RUN insmod work name=lost do=panics,{fn},{n},{d}
RUN insmod work do=times,{fn},{c},{d},{ns},2
RUN rmmod lab3
RUN dmesg
WANT lab3: {work.inside} calls, {work.lost.lost} missed
BETWEEN inside outside
READ introduction, "Calls that do not come back"
