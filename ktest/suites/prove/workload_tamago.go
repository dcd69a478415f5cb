//go:build tamago

package prove

import (
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

// A step is a part of the work. What it writes is the same each time.
type step struct {
	name string
	do   func(w io.Writer)
}

// steps are the work that kernel and library do; all is for runs in which much is probed
// at once.
var (
	steps = []step{
		{"maps", maps}, {"fmt", formats}, {"sort", sorts}, {"text", texts}, {"crypto", hashes},
		{"goroutines", goroutines}, {"timers", timers}, {"panics", panics}, {"targets", probed},
		{"files", files}, {"shell", shell}, {"symbols", symbols}, {"collector", collector},
	}
	tour = step{"tour", script( // what differs from time to time goes to a file
		"ls -l / > /tmp/k; cat /etc/passwd; cat /proc/filesystems; sysctl -a | wc -l; lsmod; cat /no/such; uname; date | wc -w; free | wc -l; ps > /tmp/k",
		"insmod kprobe_example symbol=power.Reboot post=0; rmmod kprobe_example; explain vfs.Read > /tmp/k; modinfo kprobe_example",
		"ls /proc/1; cat /proc/cpuinfo | head -n 1; cat /proc/interrupts > /tmp/k; cat /proc/kallsyms | head -n 2; mkdir /tmp/t; ls /tmp/t | wc; rm /tmp/t /tmp/k; lscpu | wc -l",
	)}
	programs = step{"programs", script(
		"/bin/sh -c 'for i in 1 2 3; do echo $i; done | sort -r; exit 4'; echo $?",
		"seq 1 50 | sort -n | head -n 2",
	)}
	all = append(steps[:len(steps):len(steps)], tour, programs)
)

// A result is what a step has written: FNV-1a of all, 64 bits, and the end of it.
type result struct {
	sum uint64
	end []byte
}

// endSize is how much of what a step writes is kept, in bytes.
const endSize = 512

// nothing is the result of a step that writes nothing.
func nothing() result { return result{sum: 0xcbf29ce484222325} }

func (r *result) Write(p []byte) (int, error) {
	for _, b := range p {
		r.sum = (r.sum ^ uint64(b)) * 0x100000001b3
	}
	r.end = append(r.end, p...)
	r.end = r.end[max(0, len(r.end)-endSize):]
	return len(p), nil
}

// work does all steps and returns the result of each.
func work(all []step) []result {
	results := make([]result, len(all))
	for i, s := range all {
		results[i] = nothing()
		s.do(&results[i])
	}
	return results
}

// compare reports a finding if steps have another result than without probes, and notes how each
// of them ended.
func (p *prover) compare(what string, got []result) {
	var wrong []string
	for i, s := range p.steps {
		if got[i].sum == p.want[i].sum {
			continue
		}
		wrong = append(wrong, s.name)
		p.note(fmt.Sprintf("%s ended with %q, without probes with %q", s.name, got[i].end, p.want[i].end))
	}
	if wrong != nil {
		p.finding("%s: another result of %s", what, strings.Join(wrong, ", "))
	}
}

// random is a sequence that is the same each time.
func random(n int) []int {
	list, x := make([]int, n), uint32(2463534242)
	for i := range list {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		list[i] = int(x % 10_000)
	}
	return list
}

func maps(w io.Writer) {
	m := map[string]int{}
	for i, v := range random(300) {
		m["key"+strconv.Itoa(v)] += i
	}
	for i := range 1000 {
		delete(m, "key"+strconv.Itoa(i))
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprint(w, k, m[k])
	}
	ints := map[int]struct{ a, b int }{}
	for i, v := range random(100) {
		ints[v] = struct{ a, b int }{i, v}
	}
	fmt.Fprint(w, len(ints), ints[7])
}

func formats(w io.Writer) {
	type point struct {
		X, Y int
		Name string
		Next *point
	}
	for i := range 10 {
		fmt.Fprintf(w, "%d %x %08b %q %v %+v %T %6.3f %e %g %s %t %c %U %*d|%-8s|\n", i, i*i, i, "a\tb", []int{i, i + 1},
			point{i, -i, "p", nil}, i, float64(i)/3, float64(i)*1e10, 1/float64(i+1), strings.Repeat("=", i), i%2 == 0, 'a'+i, 'ä', 5, i, "left")
	}
	var a, b int
	n, err := fmt.Sscanf("12 x 34", "%d x %d", &a, &b)
	fmt.Fprint(w, n, err, a, b, fmt.Errorf("wrapped: %w", io.EOF))
}

func sorts(w io.Writer) {
	list := random(400)
	slices.Sort(list)
	fmt.Fprint(w, list[:20])
	list = random(200)
	sort.Slice(list, func(i, j int) bool { return list[i] > list[j] })
	fmt.Fprint(w, list[:20])
	sort.Stable(sort.Reverse(sort.IntSlice(list)))
	at, found := slices.BinarySearch(list, list[17])
	fmt.Fprint(w, list[:20], at, found)
}

func texts(w io.Writer) {
	s := strings.Repeat("the quick brown fox, ", 20)
	fmt.Fprint(w, strings.Fields(s)[7], strings.Split(s, ",")[3], strings.ToUpper(s[:30]), strings.Index(s, "fox"), strings.Count(s, "o"),
		strings.ReplaceAll(s, "quick", "slow")[:40], strings.TrimRight(s, ", "), strings.EqualFold("Straße", "STRASSE"), strings.Map(func(r rune) rune { return r + 1 }, "abc"))
	for _, t := range []string{"0", "-17", "0x1f", "1e3", "99999999999999999999", "x"} {
		i, err := strconv.ParseInt(t, 0, 64)
		f, err2 := strconv.ParseFloat(t, 64)
		fmt.Fprint(w, i, err, f, err2, strconv.Quote(t))
	}
}

func hashes(w io.Writer) {
	data := []byte(strings.Repeat("sonde", 400))
	for range 3 {
		sum := sha256.Sum256(data)
		data = append(data, sum[:]...)
	}
	w.Write(data[len(data)-32:])
}

func goroutines(w io.Writer) {
	squares, sums := make(chan int), make(chan int, 3)
	var workers sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 3 {
		workers.Go(func() {
			own := 0
			for v := range squares {
				mu.Lock()
				total += v
				mu.Unlock()
				own += v
				if v%7 == 0 {
					runtime.Gosched()
				}
			}
			sums <- own
		})
	}
	for i := range 60 {
		squares <- i * i
	}
	close(squares)
	workers.Wait()
	fmt.Fprint(w, total, <-sums+<-sums+<-sums, targets.Channel(5), targets.Grow(80))
}

func timers(w io.Writer) {
	fired := make(chan int, 1)
	t := time.AfterFunc(50*time.Microsecond, func() { fired <- 1 })
	select {
	case v := <-fired:
		fmt.Fprint(w, v, t.Stop())
	case <-time.After(suites.Limit):
		fmt.Fprint(w, "the timer has not fired")
	}
	time.Sleep(20 * time.Microsecond)
}

func panics(w io.Writer) {
	for _, f := range []func(){
		func() { var p *[8]int; fmt.Fprint(w, p[len(fired)]) },
		func() { var l []int; fmt.Fprint(w, l[len(fired)]) },
		func() { fmt.Fprint(w, 10/len(fired)) },
		func() { var i any = "text"; fmt.Fprint(w, i.(int)) },
		func() { panic(fmt.Sprint("a panic of", 1)) },
	} {
		func() {
			defer func() { fmt.Fprint(w, recover()) }()
			f()
		}()
	}
}

// fired has length 0, which the compiler does not know.
var fired []int

func probed(w io.Writer) {
	for _, f := range targets.Funcs() {
		fmt.Fprint(w, f.Name, f.Call() == f.Want)
	}
}

func files(w io.Writer) {
	const dir = "/tmp/prove"
	fmt.Fprint(w, vfs.Root.MkdirAll(dir+"/a/b", 0o755))
	for _, name := range []string{"x", "y", "a/z"} {
		fmt.Fprint(w, vfs.WriteFile(dir+"/"+name, []byte(strings.Repeat(name, 100))))
	}
	list, err := vfs.ReadDir(dir)
	fmt.Fprint(w, len(list), err)
	for _, name := range []string{"x", "a/z", "none"} {
		b, err := vfs.ReadFile(dir + "/" + name)
		fmt.Fprint(w, len(b), err)
	}
	for _, name := range []string{"/x", "/y", "/a/z", "/a/b", "/a", "", "/x"} {
		fmt.Fprint(w, vfs.Remove(dir+name))
	}
}

var shell = script(
	"echo one two | wc; cat /proc/version | grep sonde | wc -l; echo hello > /tmp/p; cat /tmp/p /tmp/p | grep hell; rm /tmp/p",
	"ls /proc/sys; false; echo $?; no-such-command; echo $?; help ls | head -n 1; sysctl debug.kprobes-handler-limit-ms",
)

// script returns a step that runs lines of the shell.
func script(lines ...string) func(io.Writer) {
	return func(w io.Writer) {
		for _, line := range lines {
			fmt.Fprint(w, suites.Script(w, line))
		}
	}
}

func symbols(w io.Writer) {
	for _, name := range []string{"runtime.mallocgc", "sonde/kernel/vfs.Read", "vfs.Read", "no.such"} {
		s, err := kallsyms.Resolve(name)
		fmt.Fprint(w, s.Name, err)
	}
	n := 0
	for s := range kallsyms.Kernel().Named("sonde/kernel/") {
		n += len(s.Name)
	}
	fmt.Fprint(w, n)
}

type node struct {
	left, right *node
	v           int
}

func collector(w io.Writer) {
	var grow func(depth int) *node
	grow = func(depth int) *node {
		if depth == 0 {
			return nil
		}
		return &node{grow(depth - 1), grow(depth - 1), depth}
	}
	tree := grow(9)
	runtime.GC()
	var sum func(n *node) int
	sum = func(n *node) int {
		if n == nil {
			return 0
		}
		return n.v + sum(n.left) + sum(n.right)
	}
	fmt.Fprint(w, sum(tree))
}
