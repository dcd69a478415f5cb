package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// lessons are those of bpftrace's tutorial that count. @a and @b count the hits of their programs, which the kernel's
// account calls as ledgers says: bpftrace 0.17 and 0.23 give different names. rows are lines with numbers that together are all of these hits: @a, or @b.
var lessons = []struct {
	name, script string
	ledgers      []string
	rows, all    string
}{
	{"4", `tracepoint:raw_syscalls:sys_enter { @a++; @[comm] = count(); }`, []string{"sys_enter|tracepoint_raw_"}, `^@\[.*\]: (\d+)`, "a"},
	{"5", `tracepoint:syscalls:sys_exit_read { @a++; @bytes = lhist(args->ret, 0, 20, 5); }`, []string{"sys_exit_read|tracepoint_sysc"}, `^[(\[].*[)\]] +(\d+) \|`, "a"},
	{"6", `kprobe:vfs_read { @a++; @[comm] = count(); }`, []string{"vfs_read|kprobe_vfs_read"}, `^@\[.*\]: (\d+)`, "a"},
	{"7", `kprobe:vfs_write { @a++; @start[tid] = nsecs; } kretprobe:vfs_write { @b++; @ns = hist(nsecs - @start[tid]); delete(@start[tid]); } END { clear(@start); }`,
		[]string{"vfs_write|kprobe_vfs_writ", "vfs_write|kretprobe_vfs_w"}, `^[(\[].*[)\]] +(\d+) \|`, "b"},
	{"8", `tracepoint:sched:sched_switch { @a++; @[probe] = count(); } tracepoint:sched:sched_process_exec { @b++; }`, []string{"sched_switch|tracepoint_sche", "sched_process_e|tracepoint_sche"}, `^@\[.*\]: (\d+)`, "a"},
	{"9", `profile:hz:99 { @a++; @[comm] = count(); }`, []string{"99|profile_hz_99_1"}, `^@\[.*\]: (\d+)`, "a"},
	{"10", `kprobe:vfs_read { @a++; @[kstack(3)] = count(); }`, []string{"vfs_read|kprobe_vfs_read"}, `^\]: (\d+)`, "a"},
}

// lessonWork is what they watch: it looks at the ledger now and then. A hit of the function that prints it says what
// has been counted until then.
const (
	lessonWork = "for i in 1 2 3 4 5; do cat /tmp/hello > /tmp/copy; cat /sys/kernel/debug/bpf/ledger; done\n"
	lessonMark = ` kprobe:program_writeLedger { printf("made %d %d\n", @a, @b); }`
)

// TestBpftraceLessons: the numbers of the tutorial's lessons are those of the kernel's account of the probes, while they
// are attached. On one CPU, nothing comes between the two as a rule: at one look of five at least, both are the same.
// A thread may have been preempted in the middle of a hit, which the account has not then and the counter may have:
// the account has one hit less at most. A hit while another program runs (recursion: a tick may come there) is in neither.
func TestBpftraceLessons(t *testing.T) {
	runsBeside(t)
	work := filepath.Join(t.TempDir(), "work.sh")
	if err := os.WriteFile(work, []byte(lessonWork), 0o644); err != nil {
		t.Fatal(err)
	}
	commands := []string{"dmesg -n 1", "echo hello world > /tmp/hello"}
	for _, l := range lessons {
		script := l.script + lessonMark
		if len(l.ledgers) == 1 {
			script += ` BEGIN { @b = 0; }`
		}
		commands = append(commands, "echo tool "+l.name, `bpftrace -c '/bin/sh /tmp/work.sh' -e '`+script+`'`)
	}
	out := bpftrace(t, append(commands, "echo tool end"), "-smp", "1", "-timeout", "20m", "-add", work+":/tmp/work.sh")
	for _, l := range lessons {
		part := section(out, "tool "+l.name)
		for i, program := range l.ledgers {
			agrees(t, l.name, part, program, i)
		}
		sum, last := 0, 0
		for _, row := range numbers(part, l.rows) {
			sum += row[0]
		}
		for _, n := range numbers(part, "^@"+l.all+`: (\d+)`) {
			last = n[0]
		}
		if sum == 0 || sum != last {
			t.Errorf("lesson %s has counted %d of %d hits\n%s", l.name, sum, last, part)
		}
	}
}

// agrees compares counter i with the rows of a program in the ledger. Of two programs of one name, one is at returns:
// their order is not known, and the rows of both are tried.
func agrees(t *testing.T, lesson, part, program string, i int) {
	t.Helper()
	made := numbers(part, `^made (\d+) (\d+)`)
	rows := numbers(part, `^(?:`+program+`) +(\d+) +(\d+) +(\d+) .* (\d+)$`)
	same, less := 0, 0
	each := len(rows) / max(len(made), 1) // programs of this name
	for k, m := range made {
		most := 0
		for _, row := range rows[k*each : (k+1)*each] {
			hits, run, recursion, unexplained := row[0], row[1], row[2], row[3]
			most = max(most, hits)
			if (run == m[i] || run+1 == m[i]) && hits == run+recursion && unexplained == 0 {
				same++
				break
			}
		}
		if most+1 < m[i] {
			less++
		}
	}
	if len(made) != 5 || each == 0 || same == 0 || less > 0 {
		t.Errorf("lesson %s: counted were %v, and the ledger of %s has %v\n%s", lesson, made, program, rows, part)
	}
	t.Logf("lesson %s: %s: the same at %d looks of %d", lesson, program, same, len(made))
}

// numbers returns what the groups of an expression find, in each line that it fits.
func numbers(text, what string) (all [][]int) {
	for _, found := range regexp.MustCompile("(?m)"+what).FindAllStringSubmatch(strings.ReplaceAll(text, "\r", ""), -1) {
		var row []int
		for _, s := range found[1:] {
			n, _ := strconv.Atoi(s)
			row = append(row, n)
		}
		all = append(all, row)
	}
	return all
}
