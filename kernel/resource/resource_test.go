package resource

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func printed(t *Tree) string {
	var b strings.Builder
	t.Print(&b)
	return b.String()
}

func TestFormatOfLinux(t *testing.T) {
	var mem Tree
	mem.Add("PCI MMCONFIG 0000 [bus 00-ff]", 0xb0000000, 256<<20)
	mem.Add("System RAM", 0x100000, 0x7edc000)
	mem.Add("Kernel data", 0x4a00000, 0x1000)
	mem.Add("Kernel code", 0x4000000, 0x800000)
	mem.Add("0000:00:02.0", 0xfebc0000, 0x20000)
	mem.Add("PCI Bus 0000:00", 0xfe000000, 0xc00000)
	mem.Add("Reserved", 0xb0000000, 256<<20)
	mem.Add("System RAM", 4<<30, 1<<30)
	mem.Add("nothing", 5, 0)
	const want = `00100000-07fdbfff : System RAM
  04000000-047fffff : Kernel code
  04a00000-04a00fff : Kernel data
b0000000-bfffffff : PCI MMCONFIG 0000 [bus 00-ff]
  b0000000-bfffffff : Reserved
fe000000-febfffff : PCI Bus 0000:00
  febc0000-febdffff : 0000:00:02.0
100000000-13fffffff : System RAM
`
	if got := printed(&mem); got != want {
		t.Error(got)
	}
	var ports Tree
	ports.Add("serial", 0x3f8, 8)
	ports.Add("keyboard", 0x60, 1)
	if got := printed(&ports); got != "0060-0060 : keyboard\n03f8-03ff : serial\n" {
		t.Error(got)
	}
}

// TestPartsThatOverlap: both parts of a range are shown, and the end of the address space is one.
func TestPartsThatOverlap(t *testing.T) {
	var mem Tree
	mem.Add("middle", 0x20000, 0x10000)
	mem.Add("low", 0x10000, 0x18000)
	mem.Add("high", 0x28000, ^uint64(0))
	const want = `00010000-0001ffff : low
00020000-0002ffff : middle
  00020000-00027fff : low
  00028000-0002ffff : high
00030000-ffffffffffffffff : high
`
	if got := printed(&mem); got != want {
		t.Error(got)
	}
}

// TestAnyOrder: every byte that was added is shown, in order and nested, whatever overlaps.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var tree Tree
		var want [128]map[string]bool
		for i := range 12 {
			start, n := rnd.IntN(100), 1+rnd.IntN(28)
			name := fmt.Sprint(i)
			tree.Add(name, uint64(start), uint64(n))
			for b := start; b < start+n; b++ {
				if want[b] == nil {
					want[b] = map[string]bool{}
				}
				want[b][name] = true
			}
		}
		var got [128]map[string]bool
		collect(t, tree.top, 0, 127, &got)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d:\n%s", seed, printed(&tree))
		}
	}
}

// collect checks that the nodes are in order within [start, last], and gathers their bytes.
func collect(t *testing.T, list []*node, start, last uint64, got *[128]map[string]bool) {
	next := start
	for _, n := range list {
		if n.start < next || n.last > last || n.last < n.start {
			t.Errorf("%v in %d-%d", n, next, last)
		}
		next = n.last + 1
		for b := n.start; b <= n.last; b++ {
			if got[b] == nil {
				got[b] = map[string]bool{}
			}
			got[b][n.name] = true
		}
		collect(t, n.sub, n.start, n.last, got)
	}
}
