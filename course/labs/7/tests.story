# The tests of lab 7 that students can see.

NAME one process, one thread
ID one
POINTS 3
SMP 2
DRAW n 2 4
DRAW s 1 9999
PICK fn Letter Parcel
RUN insmod lab7 place=/bin/clerk:main.{fn}
RUN clerk -n {n} -seed {s} > /tmp/sent
RUN rmmod lab7
RUN insmod work do=file,/tmp/sent
RUN dmesg
TREES {fn}
EXPECT_NOT may be abandoned
EXPECT_NOT forgot .*, which is unregistered
READ introduction, "Whose call is this?"

NAME four processes with two threads each, all at once
ID four
POINTS 3
SMP 2
DRAW n 2 3
DRAW s 1 9999
PICK fn Letter Parcel
RUN insmod lab7 place=/bin/clerk:main.{fn}
RUN clerk -n {n} -threads 2 -processes 4 -seed {s} > /tmp/sent
RUN rmmod lab7
RUN insmod work do=file,/tmp/sent
RUN dmesg
TREES {fn}
READ introduction, "Whose call is this?"

NAME times lie within those of the caller
ID nest
POINTS 2
SMP 1
DRAW n 2 3
DRAW s 1 9999
PICK fn Letter Parcel
RUN insmod lab7 place=/bin/clerk:main.{fn}
RUN clerk -n {n} -threads 2 -seed {s} > /tmp/sent
RUN rmmod lab7
RUN insmod work do=file,/tmp/sent
RUN dmesg
TREES {fn}
NESTED {fn}
READ introduction, "A tree, and its times"
