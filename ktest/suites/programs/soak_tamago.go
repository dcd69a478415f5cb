//go:build tamago

package programs

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"sonde/ktest/suites"
	"sonde/linux/proc"
)

func init() {
	suites.Add("programs/soak", func(t *suites.T) { soak(t, suites.Storm(3)) })
	suites.Add("programs/soak_of_ten_minutes", func(t *suites.T) {
		t.NeedsLong()
		soak(t, 10*time.Minute)
	})
}

// work prints the same each time: shells, pipes, forks, threads, Go with collections.
var work = []string{
	`busybox sh -c 'busybox seq 1 2000 | busybox sort -rn | busybox md5sum; for i in 1 2 3; do busybox echo $i; done | busybox tac'`,
	"threads",
	"gothreads",
	"/bin/sh -c 'f() { echo $1; }; for i in 1 2 3; do f $i; done | cat'",
}

// soak runs work and compares what it prints with what it printed before, while other
// programs are killed, kernel functions that serve programs are probed, and probes are
// switched, all at random.
func soak(t *suites.T, d time.Duration) {
	need(t, "gothreads")
	want := make([]string, len(work))
	for i, line := range work {
		want[i], _ = run(t, line)
	}
	end := time.Now().Add(d)
	// All continue until the time is over, but each does at least one round, and there is at least one
	// hit: on a busy host the time may be over before they begin.
	var hits atomic.Uint64
	on := func(rounds int) bool {
		late := time.Since(end)
		return !t.Failed() && (late < 0 || late < suites.Limit && (rounds == 0 || hits.Load() == 0))
	}
	rounds := make([]int, len(work))
	for i, line := range work {
		t.Go(func() {
			for ; on(rounds[i]); rounds[i]++ {
				if got, _ := run(t, line); got != want[i] {
					t.Errorf("%s\ngot  %q\nwant %q", line, got, want[i])
				}
			}
		})
	}
	killed, switched := 0, 0
	t.Go(func() { killed = killAll(t, on) })
	t.Go(func() { switched = switchAll(t, on) })
	for range 3 {
		t.Go(func() { probeServed(t, on, &hits) })
	}
	t.Wait()
	t.Logf("%v runs, %d killed, %d hits of probes, all switched %d times", rounds, killed, hits.Load(), switched)
	if hits.Load() == 0 || slices.Contains(rounds, 0) || killed == 0 || switched == 0 {
		t.Errorf("something was not done")
	}
	t.Until("all processes to be gone", func() bool { n, _, _ := suites.Programs.Counts(); return n == 0 })
}

// victims are programs to be killed: loops in ring 3, Go with threads and collections,
// pthreads, forks. work has none of their names.
var victims = []string{"burn -n 2 -t 1h", "/tmp/victim-go", "/tmp/victim-c", "greedy forks 40"}

var victimNames = []string{"burn", "victim-go", "victim-c", "greedy"}

// killAll starts victims and kills each at a random time.
func killAll(t *suites.T, on func(rounds int) bool) (killed int) {
	run(t, "busybox ln -s /bin/gothreads /tmp/victim-go; busybox ln -s /bin/threads /tmp/victim-c")
	defer run(t, "busybox rm /tmp/victim-go /tmp/victim-c")
	for ; on(killed); killed++ {
		done := make(chan struct{})
		t.Go(func() {
			defer close(done)
			run(t, victims[killed%len(victims)])
		})
		time.Sleep(rand.N(100 * time.Millisecond))
		for ended := false; !ended; {
			for _, p := range suites.Programs.Processes() {
				if slices.Contains(victimNames, p.Name()) {
					p.Send(proc.SignalOf(9))
				}
			}
			select {
			case <-done:
				ended = true
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	return killed
}
