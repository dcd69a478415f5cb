package sim

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"sonde/bpf"
	"sonde/internal/interp"
	"sonde/kallsyms"
	"sonde/trace/lang"
)

// resolver knows intervals itself.
type resolver struct{ more lang.Resolver }

func (r resolver) Target(p *lang.Point) (*lang.Target, error) {
	if period(p) > 0 {
		return &lang.Target{}, nil
	}
	if r.more == nil {
		return nil, fmt.Errorf("there are no probes of the type %s here", p.Provider)
	}
	return r.more.Target(p)
}

// period is what is between two hits of interval:ms:10, interval:10ms or profile:hz:99, in ns; 0: it is
// something else.
func period(p *lang.Point) uint64 {
	if p.Provider != "interval" && p.Provider != "profile" {
		return 0
	}
	count, unit := p.Options[len(p.Options)-1], p.Options[0]
	if len(p.Options) == 1 {
		unit = strings.TrimLeft(count, "0123456789")
		count = strings.TrimSuffix(count, unit)
	}
	n, err := strconv.ParseUint(count, 10, 32)
	each := map[string]uint64{"s": 1e9, "ms": 1e6, "us": 1e3}[unit]
	if err != nil || n == 0 {
		return 0
	}
	if unit == "hz" {
		return 1e9 / n
	}
	return n * each
}

// symbols knows no names.
type symbols struct{}

func (symbols) Name(addr uint64, _ bool) kallsyms.Named {
	return kallsyms.Named{Name: fmt.Sprintf("%#x", addr)}
}
func (symbols) Stack(lang.Type, int64) []uint64 { return nil }

func errno(e error) uint64 {
	if no, ok := e.(syscall.Errno); ok {
		return -uint64(no)
	}
	return 0
}

func (s *session) helpers() map[int32]interp.Helper {
	number := func(n uint64) interp.Helper {
		return func(*interp.Machine, [5]uint64) (uint64, error) { return n, nil }
	}
	clock := func(*interp.Machine, [5]uint64) (uint64, error) { s.now += 100; return s.now, nil }
	return map[int32]interp.Helper{
		1: s.lookup, 2: s.update, 3: s.remove, 195: s.lookupOf, 164: s.forEach, 181: loop, 130: s.output,
		5: clock, 125: clock, 8: number(CPUs - 1), 7: number(1804289383), 118: number(500),
		14: number(42<<32 | 42), 15: number(0), 35: number(0xc000_0001_0000), 80: number(1), 27: number(errno(syscall.EEXIST)), 173: number(0x1234),
		16: func(vm *interp.Machine, a [5]uint64) (uint64, error) {
			b := make([]byte, a[1])
			copy(b[:len(b)-1], s.Comm)
			return 0, vm.Write(a[0], b)
		},
		112: read, 113: read, 114: read, 115: read,
		bpf.HelperGoid: number(7), bpf.HelperGCPhase: number(0), bpf.HelperGCNum: number(3), bpf.HelperDepth: number(0),
		bpf.HelperContains: func(vm *interp.Machine, a [5]uint64) (uint64, error) {
			text, err := vm.Read(a[0], int(a[1]))
			what, err2 := vm.Read(a[2], int(a[3]))
			text, _, _ = bytes.Cut(text, []byte{0})
			what, _, _ = bytes.Cut(what, []byte{0})
			return uint64(map[bool]int{true: 1}[bytes.Contains(text, what)]), errors.Join(err, err2)
		},
		bpf.HelperLog2: func(_ *interp.Machine, a [5]uint64) (uint64, error) { return uint64(bpf.Bucket(int64(a[0]))), nil },
	}
}

// read finds no memory at any address.
func read(vm *interp.Machine, a [5]uint64) (uint64, error) {
	return errno(syscall.EFAULT), vm.Write(a[0], make([]byte, a[1]))
}

// cpu is which table of a map the program sees.
func (t *table) cpu() int { return len(t.cpus) - 1 }

func (t *table) key(vm *interp.Machine, addr uint64) ([]byte, error) {
	return vm.Read(addr, int(t.spec.KeySize))
}

func (s *session) find(vm *interp.Machine, a [5]uint64, cpu int) (uint64, error) {
	t := s.tables[a[0]]
	key, err := t.key(vm, a[1])
	place, ok := t.cpus[cpu].places[string(key)]
	if err != nil || !ok {
		return 0, err
	}
	return s.address(place), nil
}

func (s *session) lookup(vm *interp.Machine, a [5]uint64) (uint64, error) {
	return s.find(vm, a, s.tables[a[0]].cpu())
}

func (s *session) lookupOf(vm *interp.Machine, a [5]uint64) (uint64, error) {
	if a[2] >= CPUs {
		return 0, nil
	}
	return s.find(vm, a, int(a[2]))
}

func (s *session) update(vm *interp.Machine, a [5]uint64) (uint64, error) {
	t := s.tables[a[0]]
	key, err := t.key(vm, a[1])
	if err != nil {
		return 0, err
	}
	value, err := vm.Read(a[2], int(t.spec.ValueSize))
	had := len(s.places)
	no := t.Update(t.cpu(), key, value)
	for i := had; i < len(s.places); i++ {
		vm.Regions = append(vm.Regions, s.region(i))
	}
	return errno(no), err
}

func (s *session) remove(vm *interp.Machine, a [5]uint64) (uint64, error) {
	t := s.tables[a[0]]
	key, err := t.key(vm, a[1])
	return errno(t.Delete(t.cpu(), key)), err
}

func (s *session) output(vm *interp.Machine, a [5]uint64) (uint64, error) {
	b, err := vm.Read(a[1], int(a[2]))
	s.queue = append(s.queue, bytes.Clone(b))
	return 0, err
}

// forEach calls a function of the program for each key.
func (s *session) forEach(vm *interp.Machine, a [5]uint64) (n uint64, err error) {
	const keyBase = 0x2_0000
	t := s.tables[a[0]]
	depth := uint64(len(vm.Regions))
	for _, key := range append([]string(nil), t.cpus[t.cpu()].order...) {
		place, ok := t.cpus[t.cpu()].places[key]
		if !ok {
			continue
		}
		at := keyBase + depth*valueStride/1024
		vm.Regions = append(vm.Regions, interp.Region{Name: "key", Base: at, Bytes: []byte(key)})
		stop, err := vm.Call(int(a[1]), a[0], at, s.address(place), a[2])
		vm.Regions = dropRegion(vm.Regions, at)
		if n++; err != nil || stop != 0 {
			return n, err
		}
	}
	return n, nil
}

// loop calls a function of the program so many times.
func loop(vm *interp.Machine, a [5]uint64) (uint64, error) {
	for i := range a[0] {
		if stop, err := vm.Call(int(a[1]), i, a[2]); err != nil || stop != 0 {
			return i + 1, err
		}
	}
	return a[0], nil
}

func dropRegion(all []interp.Region, base uint64) (kept []interp.Region) {
	for _, r := range all {
		if r.Base != base {
			kept = append(kept, r)
		}
	}
	return kept
}
