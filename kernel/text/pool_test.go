package text

import (
	"runtime"
	"testing"
	"weak"
)

// period is an InUse that ends when the test says so.
type period struct{ over bool }

func (p *period) Passed() bool { return p.over }

func TestPoolReusesWhatIsOutOfUse(t *testing.T) {
	p := NewPool(0x1000, 0x1000+4*32, 32)
	var all []uintptr
	for i := range uintptr(4) {
		next, _ := p.Next()
		piece, ok := p.Take(100 + i)
		if !ok || piece != 0x1000+i*32 || next != piece {
			t.Fatalf("piece %d: %#x, %v; Next said %#x", i, piece, ok, next)
		}
		all = append(all, piece)
	}
	if _, ok := p.Take(1); ok || p.Used() != 4 {
		t.Fatalf("more than there is; %d used", p.Used())
	}
	first, second := &period{}, &period{}
	p.Put(all[2], first, nil)
	p.Put(all[0], first, nil)
	p.Put(all[1], second, nil)
	if _, ok := p.Take(1); ok {
		t.Fatal("given out while in use")
	}
	second.over = true
	if n := p.Reap(); n != 3 {
		t.Errorf("%d waiting: those in front are waited for, too", n)
	}
	first.over = true
	for range 3 {
		next, _ := p.Next()
		if piece, ok := p.Take(7); !ok || piece != next {
			t.Errorf("%#x, %v; Next said %#x", piece, ok, next)
		}
	}
	if _, ok := p.Next(); ok || p.Used() != 4 {
		t.Errorf("%d used", p.Used())
	}
}

func TestPoolFindsOwners(t *testing.T) {
	p := NewPool(0x1000, 0x1000+2*32+8, 32)
	a, _ := p.Take(5)
	for _, c := range []struct{ addr, piece, owner uintptr }{
		{a, a, 5}, {a + 31, a, 5}, {a + 32, a + 32, 0}, {a + 64, 0, 0}, {0xfff, 0, 0},
	} {
		if piece, owner := p.Find(c.addr); piece != c.piece || owner != c.owner {
			t.Errorf("%#x: %#x of %#x, want %#x of %#x", c.addr, piece, owner, c.piece, c.owner)
		}
	}
	p.Put(a, &period{}, nil)
	if _, owner := p.Find(a); owner != 5 {
		t.Error("a CPU that is in it still is not at home any more")
	}
	if p.Contains(0xfff) || !p.Contains(a) || p.Contains(0x1000+2*32+8) {
		t.Error("Contains")
	}
}

// TestPoolKeepsNothing: what is out of use is not kept for ever.
func TestPoolKeepsNothing(t *testing.T) {
	p := NewPool(0, 64, 32)
	piece, _ := p.Take(1)
	p.Put(piece, &period{over: true}, new(int))
	if n := p.Reap(); n != 0 || p.returned != nil {
		t.Errorf("%d waiting, %v", n, p.returned)
	}
}

// TestPoolTellsPeriodsApart: the first is over, so what was put for it can be had, and what it
// kept is freed; the second is not.
func TestPoolTellsPeriodsApart(t *testing.T) {
	p := NewPool(0x1000, 0x1000+2*32, 32)
	first, _ := p.Take(1)
	second, _ := p.Take(2)
	kept := new([64]byte)
	freed := weak.Make(kept)
	p.Put(first, &period{over: true}, kept)
	p.Put(second, &period{}, nil)
	kept = nil
	if piece, ok := p.Take(3); !ok || piece != first {
		t.Errorf("%#x, %v; want %#x", piece, ok, first)
	}
	if piece, ok := p.Take(4); ok {
		t.Errorf("%#x is given out while in use", piece)
	}
	if runtime.GC(); freed.Value() != nil {
		t.Error("what was kept for the first is not freed")
	}
	runtime.KeepAlive(p)
}
