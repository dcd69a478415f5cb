package shell

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sonde/kernel/abi"
)

// jobTable is the jobs that run in the background or have stopped, and those whose end has not been
// reported yet.
type jobTable struct {
	mu sync.Mutex
	// guarded by mu:
	list    []*job // by number
	touched int
}

// maxJobs is how many jobs are remembered: of more, those that have ended are forgotten.
const maxJobs = 100

// put adds a job that stops or goes into the background.
func (t *jobTable) put(j *job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.touched++
	j.touched = t.touched
	if j.number != 0 {
		return
	}
	j.number = 1
	if n := len(t.list); n > 0 {
		j.number = t.list[n-1].number + 1
	}
	if len(t.list) >= maxJobs {
		t.list = slices.DeleteFunc(t.list, func(o *job) bool { now, _ := o.look(); return now == ended })
	}
	t.list = append(t.list, j)
}

// remove takes a job off the list.
func (t *jobTable) remove(j *job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = slices.DeleteFunc(t.list, func(o *job) bool { return o == j })
	j.number = 0
}

// all lists the jobs that a shell has begun: the user's, or one in the background.
func (t *jobTable) all(within *job) (own []*job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, j := range t.list {
		if j.within == within {
			own = append(own, j)
		}
	}
	return own
}

// every lists all jobs.
func (t *jobTable) every() []*job {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

// current returns the job that fg means, and the one before it: the last one that stopped comes
// first, then the last one put into the background.
func (t *jobTable) current(within *job) (current, previous *job) {
	all := t.all(within)
	slices.SortFunc(all, func(a, b *job) int {
		sa, _ := a.look()
		sb, _ := b.look()
		if (sa == stopped) != (sb == stopped) {
			if sa == stopped {
				return -1
			}
			return 1
		}
		return b.touched - a.touched
	})
	return append(all, nil, nil)[0], append(all, nil, nil)[1]
}

// find returns the job that a user names: %2, %+, %%, %-, %text, or the number of a process.
func (t *jobTable) find(name string, within *job) (*job, error) {
	spec, percent := strings.CutPrefix(name, "%")
	current, previous := t.current(within)
	var found *job
	switch n, err := strconv.Atoi(spec); {
	case percent && (spec == "" || spec == "+" || spec == "%"):
		found = current
	case percent && spec == "-":
		found = previous
	default:
		for _, j := range t.all(within) {
			if percent && (err == nil && j.number == n || err != nil && strings.HasPrefix(j.text, spec)) ||
				!percent && err == nil && j.has(n) {
				found = j
				break
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s: no such job", name)
	}
	return found, nil
}

// tell reports the jobs that have ended or stopped since the last time.
func (s *Shell) tell() {
	for _, j := range s.jobs.all(nil) {
		now, _ := j.look()
		if now == j.told || now == running {
			continue
		}
		j.told = now
		s.show(s.Err, j, "")
	}
}

// show writes a line about a job; one that has ended is taken off the list.
func (s *Shell) show(w io.Writer, j *job, pid string) {
	now, _ := j.look()
	mark := ' '
	switch current, previous := s.jobs.current(s.within); j {
	case current:
		mark = '+'
	case previous:
		mark = '-'
	}
	text := j.text
	if now == running {
		text += " &"
	}
	fmt.Fprintf(w, "[%d]%c %s %-24s%s\n", j.number, mark, pid, describe(j, now), text)
	if now == ended {
		s.jobs.remove(j)
	}
}

// describe is the state of a job in bash's words.
func describe(j *job, now jobState) string {
	status, signal := j.outcome()
	switch {
	case now == running:
		return "Running"
	case now == stopped:
		return "Stopped"
	case signal != 0:
		return ending(signal)
	case status != statusOK:
		return fmt.Sprintf("Exit %d", status)
	}
	return "Done"
}

// HangUp ends the shell: what trap has kept runs, and all jobs get SIGHUP, and a moment to handle it.
func (s *Shell) HangUp() {
	s.end()
	late := time.After(time.Second)
	for _, j := range s.jobs.every() {
		j.send(abi.SIGHUP)
		j.goOn()
	}
	for _, j := range s.jobs.every() {
		for now, changed := j.look(); now != ended; now, changed = j.look() {
			select {
			case <-changed:
			case <-late:
				return
			}
		}
	}
}
