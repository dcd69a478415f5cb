package notifier

import (
	"testing"

	"sonde/arch/amd64"
)

func TestBlocksAreAskedByPriorityUntilOneStops(t *testing.T) {
	var c Chain
	var got string
	add := func(name string, prio int, a Action) *Block {
		b := &Block{Name: name, Priority: prio, Call: func(*amd64.Regs, uint64) Action {
			got += name
			return a
		}}
		c.Register(b)
		return b
	}
	if c.Walk(nil, 0) != Next {
		t.Error("an empty chain takes exceptions")
	}
	add("low", -1, Stop)
	mid := add("mid", 0, Stop)
	add("top", 5, Next)
	if c.Walk(nil, 0) != Stop || got != "topmid" {
		t.Errorf("asked %q", got)
	}
	got = ""
	c.Unregister(mid)
	if c.Walk(nil, 0) != Stop || got != "toplow" {
		t.Errorf("after Unregister asked %q", got)
	}
}

func TestWalkAllocatesNothing(t *testing.T) {
	var c Chain
	c.Register(&Block{Call: func(*amd64.Regs, uint64) Action { return Next }})
	r := new(amd64.Regs)
	if n := testing.AllocsPerRun(100, func() { c.Walk(r, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
