package cpu

// Forever is the time of an alarm that never comes.
const Forever = 1<<63 - 1
