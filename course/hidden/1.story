# The hidden tests of lab 1.

NAME {n} calls on four CPUs
ID many
POINTS 2
SMP 4
DRAW n 80000 120000
PICK fn Crate Parcel Letter
RUN insmod lab1 symbol=load.{fn}
RUN insmod work do=calls,{fn},{n},4
RUN rmmod lab1
RUN dmesg
WANT lab1: {n} calls
WANT lab1: CPU 3: {work.cpu3}
READ introduction, "Several CPUs"

NAME a second insmod begins at zero
ID again
POINTS 1
DRAW n 100 300
DRAW m 400 700
PICK fn Letter Stamp Scale
RUN insmod lab1 symbol=load.{fn}
RUN insmod work do=calls,{fn},{n},1
RUN rmmod lab1
RUN insmod lab1 symbol=load.{fn}
RUN insmod work name=again do=calls,{fn},{m},1
RUN dmesg -c > /dev/null
RUN rmmod lab1
RUN dmesg
WANT lab1: {m} calls
READ introduction, "Loading it again"
