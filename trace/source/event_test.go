package source

import (
	"slices"
	"testing"

	"sonde/probe/event"
)

// What linux/calls says at boot.
func init() {
	for _, name := range []string{"sched:sched_process_fork", "sched:sched_process_exec", "sched:sched_process_exit", "signal:signal_generate", "signal:signal_deliver"} {
		event.Place(name, "f")
	}
}

// TestPatternsOfEvents: which one was hit is known by the cookie, and fields are not.
func TestPatternsOfEvents(t *testing.T) {
	got, err := newSource(t).Target(pointOf(t, "t:go:gc_*"))
	if err != nil || !got.Record || got.Fields != nil || !slices.Equal(got.Names, []string{"go:gc_start", "go:gc_mark_done", "go:gc_end"}) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = newSource(t).Target(pointOf(t, "t:syscalls:sys_exit_*"))
	if want := []string{"syscalls:sys_exit_getpid", "syscalls:sys_exit_openat"}; err != nil || !slices.Equal(got.Names, want) || len(got.Fields) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}
