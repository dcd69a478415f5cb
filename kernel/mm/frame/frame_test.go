package frame

import (
	"errors"
	"math/rand"
	"runtime"
	"sync"
	"syscall"
	"testing"
)

func TestFramesAreZeroAlignedAndOfTheirOwn(t *testing.T) {
	p := NewPool(new(Memory))
	seen := map[Frame]bool{}
	for i := range 3 * perBlock {
		f, err := p.Alloc()
		if err != nil {
			t.Fatal(err)
		}
		if f%Size != 0 || f == None || seen[f] {
			t.Fatalf("frame %d is %#x", i, f)
		}
		seen[f] = true
		for _, w := range p.Words(f) {
			if w != 0 {
				t.Fatalf("frame %#x holds %#x", f, w)
			}
		}
		for j := range p.Words(f) {
			p.Words(f)[j] = uint64(f)
		}
	}
	for f := range seen {
		if p.Words(f)[0] != uint64(f) || p.Words(f)[511] != uint64(f) || p.Bytes(f)[1] != byte(f>>8) {
			t.Fatalf("frame %#x was written through another", f)
		}
	}
}

// A frame that was used before is zeroed before it is given out again.
func TestFramesAreZeroAgain(t *testing.T) {
	p := NewPool(&Memory{Limit: BlockSize})
	for range 3 * perBlock {
		f, err := p.Alloc()
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range p.Bytes(f) {
			if c != 0 {
				t.Fatalf("byte %d is %#x", i, c)
			}
		}
		p.Bytes(f)[0], p.Bytes(f)[Size-1] = 1, 1
		p.Put(f)
	}
}

func TestTheLastReferenceFrees(t *testing.T) {
	p := NewPool(new(Memory))
	f, _ := p.Alloc()
	p.Ref(f)
	if p.Refs(f) != 2 || p.Stats().Used != 1 {
		t.Fatal("after Ref:", p.Refs(f), p.Stats())
	}
	p.Put(f)
	if !p.Owns(f) || p.Stats().Used != 1 {
		t.Fatal("freed too early")
	}
	p.Put(f)
	if p.Owns(f) || p.Stats().Used != 0 || p.Stats().Free != perBlock {
		t.Fatal("not freed:", p.Stats())
	}
}

func TestMisuseIsSeen(t *testing.T) {
	p := NewPool(new(Memory))
	f, _ := p.Alloc()
	p.Put(f)
	for name, misuse := range map[string]func(){
		"Put of a free frame": func() { p.Put(f) },
		"Ref of a free frame": func() { p.Ref(f) },
		"Bytes of no frame":   func() { p.Bytes(1 << 40) },
		"Put of None":         func() { p.Put(None) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			misuse()
		}()
	}
	if p.Owns(None) || p.Owns(1<<40) {
		t.Error("Owns what is no frame")
	}
}

func TestNoMemory(t *testing.T) {
	m := &Memory{Limit: BlockSize}
	p := NewPool(m)
	var all []Frame
	for range perBlock {
		f, err := p.Alloc()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	if _, err := p.Alloc(); !errors.Is(err, ErrNoMemory) || !errors.Is(err, syscall.ENOMEM) {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Failed != 1 || s.Free != 0 {
		t.Fatal(s)
	}
	p.Put(all[7])
	if f, err := p.Alloc(); err != nil || f != all[7] {
		t.Fatal(f, err)
	}
}

func TestBlocksGoBack(t *testing.T) {
	m := new(Memory)
	p := NewPool(m)
	var all []Frame
	for range 5 * perBlock {
		f, _ := p.Alloc()
		all = append(all, f)
	}
	if m.Taken() != 5*BlockSize {
		t.Fatal(m.Taken())
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, f := range all {
		p.Put(f)
	}
	// The pool keeps one block, so that a program that starts and ends takes none from the source.
	if s := p.Stats(); m.Taken() != BlockSize || s.Blocks != 1 || s.Free != perBlock || s.Used != 0 {
		t.Fatal(m.Taken(), s)
	}
	if p.Owns(all[0]) && p.Owns(all[1]) {
		t.Fatal("frames of blocks that went back are still known")
	}
}

func TestZeroes(t *testing.T) {
	p := NewPool(new(Memory))
	if p.IsZeroes(None) {
		t.Error("None is no frame")
	}
	f, err := p.Zeroes()
	g, _ := p.Zeroes()
	if err != nil || f != g || !p.IsZeroes(f) || p.Stats().Used != 0 || p.Bytes(f)[77] != 0 {
		t.Error(f, g, err, p.Stats())
	}
}

type badSource struct {
	mem []byte
	pa  uint64
}

func (s badSource) Take() ([]byte, uint64, error) { return s.mem, s.pa, nil }
func (s badSource) Give([]byte, uint64)           {}

func TestABadSourceIsRefused(t *testing.T) {
	mem := make([]byte, BlockSize)
	for _, s := range []badSource{{mem, 0}, {mem, Size}, {mem[1:], BlockSize}, {nil, BlockSize}} {
		if _, err := NewPool(s).Alloc(); !errors.Is(err, errSource) {
			t.Errorf("%d bytes at %#x: %v", len(s.mem), s.pa, err)
		}
	}
	p := NewPool(badSource{mem, BlockSize})
	for range perBlock {
		if _, err := p.Alloc(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Alloc(); !errors.Is(err, errSource) {
		t.Error("the same block twice:", err)
	}
}

// Many goroutines take, share and put frames; each must find in its frames what it wrote.
func TestManyAtOnce(t *testing.T) {
	m := &Memory{Limit: 4 * BlockSize}
	p := NewPool(m)
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewSource(int64(id)))
			var mine []Frame
			for i := range 20000 {
				if len(mine) > 0 && rnd.Intn(2) == 0 {
					k := rnd.Intn(len(mine))
					f := mine[k]
					if p.Words(f)[3] != uint64(id)<<32|uint64(f) {
						t.Errorf("frame %#x was written by another", f)
					}
					p.Ref(f)
					p.Put(f)
					p.Put(f)
					mine[k] = mine[len(mine)-1]
					mine = mine[:len(mine)-1]
				} else if f, err := p.Alloc(); err == nil {
					p.Words(f)[3] = uint64(id)<<32 | uint64(f)
					mine = append(mine, f)
				}
				if i%64 == 0 {
					runtime.Gosched()
				}
			}
			for _, f := range mine {
				p.Put(f)
			}
		}()
	}
	wg.Wait()
	if s := p.Stats(); s.Used != 0 || s.Free != s.Blocks*perBlock || m.Taken() != uint64(s.Blocks)*BlockSize {
		t.Fatal(s, m.Taken())
	}
}

func BenchmarkAllocPut(b *testing.B) {
	p := NewPool(new(Memory))
	for range b.N {
		f, _ := p.Alloc()
		p.Put(f)
	}
}
