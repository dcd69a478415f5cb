package sysbpf

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/probe/program"
)

// Flags of maps.
//
// Source: Linux, uapi/linux/bpf.h, BPF_F_*.
const (
	noPrealloc  = 1 << 0
	noCommonLRU = 1 << 1
	numaNode    = 1 << 2
	readOnly    = 1 << 3
	writeOnly   = 1 << 4
	zeroSeed    = 1 << 6
	readProg    = bpf.ReadOnlyProgram
	writeProg   = bpf.WriteOnlyProgram
	mappable    = 1 << 10
	preserve    = 1 << 11
	innerMap    = 1 << 12

	access = readOnly | writeOnly | readProg | writeProg
)

// flagsOf are the flags that each kind of map knows.
var flagsOf = map[bpf.MapType]uint32{
	bpf.Hash: noPrealloc | numaNode | zeroSeed | access, bpf.PerCPUHash: noPrealloc | numaNode | zeroSeed | access,
	bpf.LRUHash: noCommonLRU | numaNode | zeroSeed | access, bpf.LRUPerCPUHash: noCommonLRU | numaNode | zeroSeed | access,
	bpf.LPMTrie: noPrealloc | numaNode | access,
	bpf.Array:   numaNode | mappable | access | preserve | innerMap, bpf.PerCPUArray: numaNode | access | preserve | innerMap,
	bpf.PerfEventArray: numaNode | readOnly | writeOnly | preserve, bpf.StackTrace: numaNode | readOnly | writeOnly,
	bpf.ArrayOfMaps: numaNode | access, bpf.HashOfMaps: noPrealloc | numaNode | access,
	bpf.ProgArray: numaNode | readOnly | writeOnly,
	bpf.Queue:     numaNode | access, bpf.Stack: numaNode | access, bpf.RingBuf: numaNode,
}

// mapState is what only processes see of a map.
type mapState struct {
	flags      uint32 // it was made with
	frozen     atomic.Bool
	btf        *btfObject // nil: the types of keys and values are not known
	key, value uint32     // their numbers in btf
	release    func()     // ends the count of its bytes; nil: they are not counted

	mu     sync.Mutex
	writes int // guarded by mu: mappings that can be written to, and calls that write
}

// stateOf returns a map's state; of one that the kernel has made, one that is not kept.
func stateOf(m *program.Map) *mapState {
	if s, ok := m.Extra.(*mapState); ok {
		return s
	}
	return &mapState{flags: m.Spec.Flags}
}

// Gone is called when the map is freed.
func (s *mapState) Gone() {
	s.btf.drop()
	if s.release != nil {
		s.release()
	}
}

func mapCreate(c *call) (uint64, error) {
	name, err := c.name(28)
	if err != nil {
		return 0, err
	}
	s := bpf.MapSpec{Name: name, Type: bpf.MapType(c.u32(0)), KeySize: c.u32(4), ValueSize: c.u32(8), MaxEntries: c.u32(12)}
	flags := c.u32(16)
	if err := c.checkFlags(&s, flags); err != nil {
		return 0, err
	}
	s.Flags = flags & (readProg | writeProg)
	state := &mapState{flags: flags, key: c.u32(52), value: c.u32(56)}
	if s.Type == bpf.ArrayOfMaps || s.Type == bpf.HashOfMaps {
		f, inner, err := c.holdMap(c.fd(20), forAny)
		if err != nil {
			return 0, err
		}
		defer f.release()
		of := inner.m.Spec
		s.Inner = &of
	}
	if err := state.setBTF(c); err != nil {
		return 0, err
	}
	m, err := program.NewProcessMap(s, state)
	if err != nil {
		state.btf.drop()
		return 0, err
	}
	if state.release, err = c.Charge(m.Bytes()); err != nil {
		m.Close()
		return 0, err
	}
	return c.install(m, flags)
}

// checkFlags checks what a map is to be like, as far as the engine does not.
func (c *call) checkFlags(s *bpf.MapSpec, flags uint32) error {
	known, there := flagsOf[s.Type]
	switch {
	case !there:
		return c.missing(fmt.Sprintf("a map of type %d", s.Type))
	case flags&^known != 0 && s.Type == bpf.LRUHash && flags&noPrealloc != 0:
		return refusal.New(syscall.EOPNOTSUPP, "a map that evicts always has its memory")
	case flags&^known != 0, flags&(readOnly|writeOnly) == readOnly|writeOnly, flags&(readProg|writeProg) == readProg|writeProg:
		return refusal.New(syscall.EINVAL, "flags %#x are not for a map of type %s", flags, s.Type)
	case s.Type == bpf.LPMTrie && flags&noPrealloc == 0:
		return refusal.New(syscall.EINVAL, "a map of type %s wants the flag BPF_F_NO_PREALLOC", s.Type)
	case flags&numaNode != 0 && c.u32(24) != 0:
		return refusal.New(syscall.EINVAL, "there is no node %d: this machine has one", c.u32(24))
	case c.u32(44) != 0:
		return c.missing("a map of a network interface")
	case c.u32(60) != 0 || c.u64(64) != 0:
		return refusal.New(syscall.EINVAL, "btf_vmlinux_value_type_id and map_extra are not for a map of type %s", s.Type)
	case s.Type == bpf.RingBuf && (s.MaxEntries&(s.MaxEntries-1) != 0 || s.MaxEntries%pageSize != 0):
		return refusal.New(syscall.EINVAL, "a ring of %d bytes: give a power of two of pages", s.MaxEntries)
	}
	return nil
}

// install gives a new map its first descriptor, on which its life depends from then on.
func (c *call) install(m *program.Map, flags uint32) (uint64, error) {
	err := program.Hold(m)
	m.Close()
	if err != nil {
		return 0, err
	}
	return c.installMap(m, fileFlag(flags))
}

// fileFlag is what a descriptor of a map is opened for.
func fileFlag(flags uint32) int {
	switch {
	case flags&readOnly != 0:
		return abi.O_RDONLY
	case flags&writeOnly != 0:
		return abi.O_WRONLY
	}
	return abi.O_RDWR
}

func mapFreeze(_ *call, h *mapFile) error {
	state, ok := h.m.Extra.(*mapState)
	if !ok {
		return refusal.New(syscall.EOPNOTSUPP, "map %s is the kernel's own", h.m.Spec.Name)
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.writes > 0 || !state.frozen.CompareAndSwap(false, true) {
		return refusal.New(syscall.EBUSY, "map %s is frozen, or written to, or mapped for that", h.m.Spec.Name)
	}
	return nil
}

// constants are the values of those of maps that cannot change any more, as of .rodata: with them, the verifier
// knows what a program reads there.
func constants(maps []*program.Map) map[*bpf.MapSpec][]byte {
	values := map[*bpf.MapSpec][]byte{}
	for _, m := range maps {
		s := &m.Spec
		if s.Type != bpf.Array || s.MaxEntries != 1 || s.Flags&readProg == 0 || !stateOf(m).frozen.Load() {
			continue
		}
		if value := make([]byte, valueSize(m)); m.Lookup(0, make([]byte, s.KeySize), value) == nil {
			values[s] = value
		}
	}
	return values
}
