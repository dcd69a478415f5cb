package main

import (
	"strings"
	"testing"
)

// TestPerfStat: Debian's perf counts what a command does, and what its children do, unless it is told not to; not what
// comes before the command.
func TestPerfStat(t *testing.T) {
	const command = "/bin/sh -c '/bin/true; /bin/true; /bin/true'"
	commands := []string{
		"/usr/bin/perf stat -e sched:sched_process_exec,task-clock " + command,
		"/usr/bin/perf stat -i -e sched:sched_process_exec " + command,
		"/usr/bin/perf stat /bin/true",
	}
	out, err := launch(t, "-smp", "2", "-m", "1G", "-add", debians(t, "/usr/bin/perf"), "-deps", "-c", strings.Join(commands, "; ")).CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	sees(t, string(out), `^ +3 +sched:sched_process_exec `, `^ +[1-9][\d,.]* msec task-clock`, `^ +0 +sched:sched_process_exec +$`, `^ +[1-9][\d,.]* msec task-clock`, `^ +[1-9]\d* +page-faults`)
}
