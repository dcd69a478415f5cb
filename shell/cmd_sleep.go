package shell

import (
	"strconv"
	"time"
)

var sleepCommand = &Command{
	Name:  "sleep",
	Usage: "seconds",
	Help:  "wait; the time may have a fraction or a unit: 0.5, 10ms",
	Run:   sleep,
}

func sleep(c *Context, args []string) error {
	if len(args) != 1 {
		return Usagef("give one duration")
	}
	d, err := time.ParseDuration(args[0])
	if err != nil {
		seconds, err := strconv.ParseFloat(args[0], 64)
		if err != nil || !(seconds >= 0 && seconds < 1e9) {
			return Usagef("%q is not a duration", args[0])
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.Interrupt:
		return Status(statusInterrupted)
	}
}
