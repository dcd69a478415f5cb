# The hidden tests of lab 2.

NAME {files} files with long names
ID long
POINTS 2
SMP 4
DRAW seed 1 99999
DRAW files 15 28
RUN insmod lab2
RUN insmod work do=writes,{seed},{files},4,long
RUN rmmod lab2
RUN dmesg
WANT lab2: {work.file1}
WANT lab2: {work.file2}
WANT lab2: {work.file3}
WANT lab2: {work.file10}
READ introduction, "The table"

NAME {files} files, more than there is room for
ID other
POINTS 2
SMP 1
DRAW seed 1 99999
DRAW files 45 60
RUN insmod lab2
RUN insmod work do=writes,{seed},{files},1,short
RUN rmmod lab2
RUN dmesg
WANT lab2: {work.file1}
WANT lab2: {work.file10}
WANT lab2: {work.other}
READ introduction, "The table"
