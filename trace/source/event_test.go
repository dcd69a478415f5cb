package source

import "sonde/probe/event"

// What linux/calls says at boot.
func init() {
	for _, name := range []string{"sched:sched_process_fork", "sched:sched_process_exec", "sched:sched_process_exit", "signal:signal_generate", "signal:signal_deliver"} {
		event.Place(name, "f")
	}
}
