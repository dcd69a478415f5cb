# The hidden tests of lab 7.

NAME in the middle of requests, the program forks and execs
ID fork
POINTS 3
SMP 2
DRAW n 1 2
DRAW s 1 9999
PICK fn Letter Parcel
RUN insmod lab7 place=/bin/clerk:main.{fn}
RUN clerk -n {n} -threads 2 -seed {s} -fork -exec {fn} > /tmp/sent
RUN rmmod lab7
RUN insmod work do=file,/tmp/sent
RUN dmesg
TREES {fn}
EXPECT_NOT forgot .*, which is unregistered
READ introduction, "Requests that do not end"

NAME a program without symbols
ID offset
POINTS 3
SMP 4
DRAW n 2 4
DRAW s 1 9999
PICK fn Letter Parcel
RUN insmod lab7 place=/bin/teller:{offset.{fn}}
RUN teller -n {n} -threads 2 -seed {s} > /tmp/sent
RUN rmmod lab7
RUN insmod work do=file,/tmp/sent
RUN dmesg
TREES {fn}
NESTED {fn}
READ introduction, "A place in a program"
