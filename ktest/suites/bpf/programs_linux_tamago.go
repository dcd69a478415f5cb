//go:build tamago && !nolinux

package bpf

import (
	"io"

	"sonde/ktest/suites"
)

func init() {
	suites.Add("bpf/program_on_each_kind_in_processes", eachKindInProcesses)
}

// eachKindInProcesses: some of these places call their handlers in goroutines, at times or always.
func eachKindInProcesses(t *suites.T) {
	if suites.Programs == nil {
		t.Skipf("this machine cannot run programs")
	}
	for _, places := range [][]string{{"sys:write"}, {"ret:sys:write"}, {"/bin/sh:syscall.write"}, {"ret:/bin/sh:syscall.write"}, {"sys:write", "/bin/sh:syscall.write", pkg + "square"}} {
		p := load(t, count)
		l := p.attach(t, places...)
		if status := suites.Script(io.Discard, `/bin/sh -c "for i in 1 2 3 4 5 6 7 8 9; do echo x; done" > /dev/null`); status != 0 {
			t.Errorf("%s: status %d", places[0], status)
		}
		l.Close()
		p.balance(t, l, 9)
		p.close()
	}
}
