package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"sonde/bpf"
)

// prefixKey is a prefix as the key of a trie.
func prefixKey(length int, data ...byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(length)), data...)
}

func ipKey(text string) []byte {
	var length int
	ip := make([]byte, 4)
	if _, err := fmt.Sscanf(text, "%d.%d.%d.%d/%d", &ip[0], &ip[1], &ip[2], &ip[3], &length); err != nil {
		panic(text)
	}
	return prefixKey(length, ip...)
}

func newTrie(t *testing.T, keySize, entries int) *Map {
	return newMap(t, bpf.MapSpec{Type: bpf.LPMTrie, KeySize: uint32(keySize), ValueSize: 8, MaxEntries: uint32(entries)})
}

// scanned are the keys of a map in their order.
func scanned(m *Map) (keys []string) {
	key := make([]byte, m.Spec.KeySize)
	for at, ok := m.Scan(0, key); ok; at, ok = m.Scan(at, key) {
		keys = append(keys, string(key))
	}
	return keys
}

// TestPrefixes: the most special of the prefixes that a key begins with is found, and keys come in Linux's order.
func TestPrefixes(t *testing.T) {
	m := newTrie(t, 8, 16)
	for i, p := range []string{"0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3/32", "192.168.0.0/16", "192.168.1.0/24", "192.168.0.0/24"} {
		if err := m.Update(0, ipKey(p), key8(uint64(i)), NoExist); err != nil {
			t.Fatal(err)
		}
		if err := m.Update(0, ipKey(p), key8(uint64(i)), NoExist); !errors.Is(err, syscall.EEXIST) {
			t.Errorf("%s once more: %v", p, err)
		}
	}
	for key, want := range map[string]uint64{"10.1.2.3/32": 4, "10.1.2.4/32": 3, "10.1.2.0/24": 3, "10.1.2.3/31": 3, "10.1.2.3/23": 2, "10.1.3.3/32": 2,
		"10.2.0.0/32": 1, "10.0.0.0/8": 1, "10.0.0.0/7": 0, "11.0.0.0/8": 0, "192.168.2.1/32": 5, "192.168.1.255/32": 6, "192.168.0.9/32": 7, "0.0.0.0/0": 0} {
		value := make([]byte, 8)
		if err := m.Lookup(0, ipKey(key), value); err != nil || binary.LittleEndian.Uint64(value) != want {
			t.Errorf("%s: %x, %v; want %d", key, value, err, want)
		}
	}
	var order []string
	for _, p := range []string{"10.1.2.3/32", "10.1.2.0/24", "10.1.0.0/16", "10.0.0.0/8", "192.168.0.0/24", "192.168.1.0/24", "192.168.0.0/16", "0.0.0.0/0"} {
		order = append(order, string(ipKey(p)))
	}
	if got := scanned(m); !slices.Equal(got, order) {
		t.Errorf("keys %x, want %x", got, order)
	}
}

// TestPrefixRefusals: what does not suit a trie is refused, and changes nothing.
func TestPrefixRefusals(t *testing.T) {
	for size, ok := range map[uint32]bool{4: false, 5: true, 260: true, 261: false} {
		m, err := NewMap(bpf.MapSpec{Type: bpf.LPMTrie, KeySize: size, ValueSize: 8, MaxEntries: 1})
		if ok != (err == nil) || !ok && !errors.Is(err, syscall.EINVAL) {
			t.Errorf("keys of %d bytes: %v", size, err)
		}
		if m != nil {
			m.Close()
		}
	}
	m := newTrie(t, 8, 2)
	for _, p := range []string{"10.0.0.0/8", "11.0.0.0/8"} {
		if err := m.Update(0, ipKey(p), key8(1), Any); err != nil {
			t.Fatal(err)
		}
	}
	other, long := ipKey("12.0.0.0/8"), prefixKey(33, 10, 0, 0, 0)
	for what, c := range map[string]struct{ err, want error }{
		"full":                    {m.Update(0, other, key8(1), Any), syscall.ENOSPC},
		"not there":               {m.Update(0, other, key8(1), Exist), syscall.ENOENT},
		"where two part":          {m.Update(0, ipKey("10.0.0.0/7"), key8(1), Exist), syscall.ENOENT},
		"flags":                   {m.Update(0, other, key8(1), Exist+1), syscall.EINVAL},
		"too long":                {m.Update(0, long, key8(1), Any), syscall.EINVAL},
		"too long to delete":      {m.Delete(0, long), syscall.EINVAL},
		"too long to look up":     {m.Lookup(0, long, make([]byte, 8)), syscall.ENOENT},
		"nothing to delete":       {m.Delete(0, other), syscall.ENOENT},
		"a shorter one to delete": {m.Delete(0, ipKey("10.0.0.0/9")), syscall.ENOENT},
		"a parting to delete":     {m.Delete(0, ipKey("10.0.0.0/7")), syscall.ENOENT},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", what, c.err, c.want)
		}
	}
	if err := m.Update(0, ipKey("11.0.0.0/8"), key8(2), Exist); err != nil || m.Lost() != 1 {
		t.Errorf("a full trie takes no new value: %v, %d lost", err, m.Lost())
	}
	if got := scanned(m); len(got) != 2 {
		t.Errorf("keys %x", got)
	}
}

// naive is what a trie has, by prefix without its host bits.
type naive map[string]struct {
	key   []byte
	value uint64
}

// masked is the first bits of a key, as text.
func masked(key []byte, length int) string {
	s := []byte(fmt.Sprint(length, ":"))
	for i := range length {
		s = append(s, '0'+key[4+i/8]>>(7-i%8)&1)
	}
	return string(s)
}

func lengthOf(key []byte) int { return int(binary.LittleEndian.Uint32(key)) }

func (n naive) find(key []byte) (uint64, bool) {
	for l := lengthOf(key); l >= 0; l-- {
		if e, ok := n[masked(key, l)]; ok {
			return e.value, true
		}
	}
	return 0, false
}

// order are the keys, each behind those that begin with it.
func (n naive) order() (keys []string) {
	for _, e := range n {
		keys = append(keys, string(e.key))
	}
	slices.SortFunc(keys, func(a, b string) int {
		ka, kb := []byte(a), []byte(b)
		la, lb := lengthOf(ka), lengthOf(kb)
		short := min(la, lb)
		if bitsA, bitsB := masked(ka, short), masked(kb, short); bitsA != bitsB {
			return bytes.Compare([]byte(bitsA), []byte(bitsB))
		}
		return lb - la
	})
	return keys
}

// TestPrefixesAtRandom compares a trie with a list of prefixes, in few bits so that they meet.
func TestPrefixesAtRandom(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := []int{5, 6, 8, 12, 17}[seed%5]
		m, want := newTrie(t, size, 24), naive{}
		draw := func() []byte {
			key := prefixKey(r.IntN(8*(size-4)+1), make([]byte, size-4)...)
			for i := range 8 * (size - 4) {
				if r.IntN(2+size/2) == 0 {
					key[4+i/8] ^= 1 << (i % 8)
				}
			}
			return key
		}
		for step := range 600 {
			key, value := draw(), make([]byte, 8)
			is := masked(key, lengthOf(key))
			_, there := want[is]
			switch r.IntN(4) {
			case 0, 1:
				err := m.Update(0, key, key8(uint64(step)), Any)
				if full := len(want) == 24 && !there; full != errors.Is(err, syscall.ENOSPC) || !full && err != nil {
					t.Fatalf("seed %d, step %d: update %x: %v", seed, step, key, err)
				} else if !full {
					want[is] = struct {
						key   []byte
						value uint64
					}{key, uint64(step)}
				}
			case 2:
				if len(want) > 0 && r.IntN(3) > 0 {
					key = []byte(want.order()[r.IntN(len(want))])
					is, there = masked(key, lengthOf(key)), true
				}
				if err := m.Delete(0, key); there != (err == nil) || !there && !errors.Is(err, syscall.ENOENT) {
					t.Fatalf("seed %d, step %d: delete %x: %v", seed, step, key, err)
				}
				delete(want, is)
			default:
				err := m.Lookup(0, key, value)
				v, ok := want.find(key)
				if ok != (err == nil) || ok && binary.LittleEndian.Uint64(value) != v {
					t.Fatalf("seed %d, step %d: lookup %x: %x, %v; want %d, %t", seed, step, key, value, err, v, ok)
				}
			}
			if got := scanned(m); step%40 == 0 && !slices.Equal(got, want.order()) {
				t.Fatalf("seed %d, step %d: keys %x, want %x", seed, step, got, want.order())
			}
		}
		n := 0
		m.Range(0, func(key, value []byte) bool {
			n++
			if e := want[masked(key, lengthOf(key))]; !bytes.Equal(e.key, key) || e.value != binary.LittleEndian.Uint64(value) {
				t.Errorf("seed %d: %x has %x", seed, key, value)
			}
			return true
		})
		if n != len(want) {
			t.Errorf("seed %d: %d keys, want %d", seed, n, len(want))
		}
	}
}

// TestPrefixesWhileOthersChange: whoever looks up a prefix that is always there finds it, whatever comes and goes on the
// way to it, and never a value that is another's in part.
func TestPrefixesWhileOthersChange(t *testing.T) {
	const same = 4
	m := newMap(t, bpf.MapSpec{Type: bpf.LPMTrie, KeySize: 8, ValueSize: 256, MaxEntries: 4096})
	of := func(i byte) []byte { return bytes.Repeat([]byte{i}, 256) }
	stays := func(i byte) []byte { return prefixKey(32, i, 1, 2, 3) }
	for i := range byte(same) {
		if m.Update(0, prefixKey(8, i, 0, 0, 0), of(i), Any) != nil || m.Update(0, stays(i), of(i+same), Any) != nil {
			t.Fatal("there is no room")
		}
	}
	var ended atomic.Bool
	var readers, writers sync.WaitGroup
	for cpu := range 2 {
		writers.Go(func() {
			for r := rand.New(rand.NewPCG(uint64(cpu), 2)); !ended.Load(); {
				i, at := byte(r.IntN(same)), 8+r.IntN(24)
				key := stays(i)
				key[4+at/8] ^= 0x80 >> (at % 8) // where it parts from what stays
				binary.LittleEndian.PutUint32(key, uint32(at+r.IntN(2)))
				if r.IntN(2) == 0 {
					m.Update(cpu, key, of(i), NoExist)
				} else if lengthOf(key) > 8 {
					m.Delete(cpu, key)
				}
			}
		})
		readers.Go(func() {
			value := make([]byte, 256)
			for n := range 100_000 {
				i := byte(n % same)
				key, want := stays(i), i+same
				if n&same != 0 {
					key[5], want = 0xff, i
				}
				if err := m.Lookup(cpu, key, value); err != nil || !bytes.Equal(value, of(want)) {
					t.Errorf("%x: %x, %v", key, value, err)
					return
				}
				p := (*atomic.Uint64)(m.find(m.table(cpu), at(key)))
				if p == nil || want >= same && byte(p.Load()) != want {
					t.Errorf("%x: a program finds %p", key, p)
					return
				}
			}
		})
	}
	readers.Wait()
	ended.Store(true)
	writers.Wait()
	if m.Lost() != 0 {
		t.Errorf("%d lost", m.Lost())
	}
}

// TestPrefixGoneWhileCopied: what was copied of a node is no key's value if another prefix has taken the node meanwhile.
func TestPrefixGoneWhileCopied(t *testing.T) {
	m, key, value := newTrie(t, 8, 4), ipKey("10.0.0.0/8"), make([]byte, 8)
	if err := m.Update(0, key, key8(1), Any); err != nil {
		t.Fatal(err)
	}
	n, w := m.findPrefix(at(key))
	if !m.copyNode(n, w, nil, at(value)) || value[0] != 1 {
		t.Errorf("%x of what is there", value)
	}
	if m.Delete(0, key) != nil || m.copyNode(n, w, nil, at(value)) {
		t.Error("a value of what was deleted")
	}
	if err := m.Update(0, ipKey("11.0.0.0/8"), key8(2), Any); err != nil {
		t.Fatal(err)
	}
	if other, _ := m.findPrefix(at(ipKey("11.0.0.0/8"))); other != n || m.copyNode(n, w, nil, at(value)) {
		t.Error("a value of another prefix")
	}
}

// TestKeyThatChanges: a program's key may be in a map, which others change while it is read. What is stored is a prefix
// nevertheless, in its place.
func TestKeyThatChanges(t *testing.T) {
	m := newTrie(t, 8, 1024)
	word := new(uint64)
	var over atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for r := rand.New(rand.NewPCG(1, 2)); !over.Load(); {
			atomic.StoreUint64(word, r.Uint64()&^0xffffffc0)
		}
	})
	key := unsafe.Pointer(word)
	for range 200_000 {
		if m.updatePrefix(key, at(key8(1)), Any) == syscall.ENOSPC {
			m.removePrefix(key)
		}
	}
	over.Store(true)
	other.Wait()
	keys := scanned(m)
	for _, k := range keys {
		if value := make([]byte, 8); lengthOf([]byte(k)) > 32 || m.Lookup(0, []byte(k), value) != nil {
			t.Fatalf("%x is not where it is looked for", k)
		}
	}
	if len(keys) == 0 || len(keys) > 1024 {
		t.Errorf("%d keys", len(keys))
	}
}
