package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sonde/internal/image"
	"sonde/qemu/machine"
)

// A wait is how long a thread has waited for a mutex that another held, which is named.
type wait struct{ mutex, waiter, holder string }

var (
	waitKnown  = regexp.MustCompile(`contend: (\w+) waiter (\d+) holder (\d+) us (\d+)`)
	waitShown  = regexp.MustCompile(`(?s)@us\[(contend\.\S+) 0x[0-9a-f]+, \(waiter, (\d+)\), \(holder, (\d+)\), \n(.*?)\]: \{ \.count = (\d+), \.average = \d+, \.total = (\d+) \}`)
	waitMutex  = map[string]string{"small": "contend.small.mu", "large": "contend.large.rw", "static": "contend.static+0x8", "alone": "contend.alone"}
	waitCaller = map[string]string{"small": "contend.(*small).wait", "large": "contend.(*large).wait", "static": "contend.waitStatic", "alone": "contend.waitAlone"}
)

// TestMutexesAreNamed: mutexwait says which mutexes of a module are waited for, by which threads, which hold them, from where, and how
// long: no longer than the module has measured, and at least 10 ms, as they are held so long from when somebody waits.
func TestMutexesAreNamed(t *testing.T) {
	runsBeside(t)
	r := bootScript(t, func() (string, error) { return build(image.BuildOptions{With: []string{"testdata/contend"}}) },
		machine.Config{SMP: 2, Script: "mutexwait -c 'insmod contend' 9; dmesg | grep contend:"})
	text := strings.ReplaceAll(string(r.Stdout), "\r", "")
	shown := map[wait][]string{}
	for _, m := range waitShown.FindAllStringSubmatch(text, -1) {
		shown[wait{m[1], m[2], m[3]}] = m[4:]
	}
	known := waitKnown.FindAllStringSubmatch(text, -1)
	for _, m := range known {
		w := wait{waitMutex[m[1]], thread(m[2]), thread(m[3])}
		got := shown[w]
		if got == nil {
			t.Errorf("%v is missing", w)
			continue
		}
		us, most := atoi(got[2]), atoi(m[4])
		if got[1] != "1" || us < 10_000 || us > most || !strings.Contains(got[0], waitCaller[m[1]]+"+") {
			t.Errorf("%v: %s times, %d µs of %d, from\n%s", w, got[1], us, most, got[0])
		}
	}
	if len(known) != 12 || t.Failed() {
		t.Errorf("%d waits, want 12:\n%s", len(known), text)
	}
}

// thread is the number of the thread that a goroutine of the kernel is.
func thread(goid string) string { return strconv.Itoa(0x400000 + atoi(goid)) }

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
