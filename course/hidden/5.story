# The hidden tests of lab 5: the more functions agree, the more of them pass. None does if Check takes a
# place for safe that is not.

NAME of 9000 functions of another program, 95 % agree
ID most
POINTS 3
LIMIT 60
RUN host {host.kernel} 9000 95
TRUE unsafe 0 places where a jump would do harm
TRUE missing 0 functions short of 95 %
READ introduction, "Writing the function"

NAME of 9000 functions, 99 % agree
ID nearly
POINTS 2
LIMIT 60
RUN host {host.kernel} 9000 99
TRUE unsafe 0 places where a jump would do harm
TRUE missing 0 functions short of 99 %
READ introduction, "Writing the function"

NAME all of 9000 functions agree
ID all
POINTS 2
LIMIT 60
RUN host {host.kernel} 9000 100
TRUE unsafe 0 places where a jump would do harm
TRUE missing 0 functions short of all
READ introduction, "Writing the function"
