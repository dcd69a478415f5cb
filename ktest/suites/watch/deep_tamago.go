//go:build tamago

package watch

import (
	"fmt"
	"strings"

	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/kwatch"
)

func init() {
	suites.Add("watch/steps_without_space_on_the_stack", blindSteps)
}

// blindSteps: a step is not watched if the stack has no space for the frames of a hit. It is counted.
func blindSteps(t *suites.T) {
	k := probe(t, incAt, true)
	defer kprobes.UnregisterKprobe(k)
	var s seen
	reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
	const depths = 200 // more frames than a goroutine's first stack has space for
	for depth := range depths {
		done := make(chan struct{})
		go func() {
			defer close(done)
			descend(depth)
		}()
		<-done
	}
	list, err := vfs.ReadFile("/sys/kernel/debug/kwatch/list")
	t.Must(err)
	blind := off(t, reg).Blind
	if blind == 0 || uint64(s.n.Load())+blind != depths || k.Hits() != depths {
		t.Errorf("of %d steps, %d hits were seen, and %d steps were not watched", k.Hits(), s.n.Load(), blind)
	}
	if want := fmt.Sprintf(" [%d steps not watched]\n", blind); !strings.Contains(string(list), want) {
		t.Errorf("the list has no %q: %s", want, list)
	}
	reg = on(t, wordAt(), 8, kwatch.Write, s.hit)
	if i := off(t, reg); i.Blind != 0 {
		t.Errorf("another watchpoint has %d steps of before", i.Blind)
	}
}

// descend calls incDeep with that many frames below.
//
//go:noinline
func descend(frames int) {
	if frames == 0 {
		incDeep()
		return
	}
	descend(frames - 1)
	descended++ // so that the call is no jump
}

var descended int
