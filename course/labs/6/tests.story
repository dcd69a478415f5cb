# The tests of lab 6 that students can see.

NAME a plain counter loses hits on four CPUs, and only there
ID loss
POINTS 2
SMP 4
DRAW n 2000 4000
DRAW m 30000 40000
RUN insmod lab6 symbol=load.Letter how=plain
RUN insmod work name=one do=calls,Letter,{n},1
RUN rmmod lab6
RUN insmod lab6 symbol=load.Letter how=plain
RUN insmod work do=calls,Letter,{m},4
RUN rmmod lab6
RUN dmesg
WANT lab6: plain {work.one.calls}
FEWER {work.calls} lab6: plain
READ introduction, "A hit that is lost"

NAME both repairs are exact, with {n} and {m} calls on four CPUs
ID exact
POINTS 2
SMP 4
DRAW n 20000 30000
DRAW m 30001 40000
RUN insmod lab6 symbol=load.Parcel how=atomic
RUN insmod work do=calls,Parcel,{n},4
RUN rmmod lab6
RUN insmod lab6 symbol=load.Letter how=percpu
RUN insmod work name=two do=calls,Letter,{m},4
RUN rmmod lab6
RUN dmesg
WANT lab6: atomic {work.calls}
WANT lab6: percpu {work.two.calls}
WANT lab6: CPU 1: {work.two.cpu1}
WANT lab6: CPU 3: {work.two.cpu3}
EXPECT_NOT forgot .*, which is unregistered
READ introduction, "Two repairs"

NAME no CPU of two executes a mixture
ID two
POINTS 3
RUN host 2
TRUE wrong nothing that can go wrong
READ introduction, "Changing code that others execute"
