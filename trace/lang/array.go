package lang

import (
	"encoding/binary"

	"sonde/bpf"
)

// A map that only adds up, without a key or by keys that are small numbers, is a per-CPU array: programs that use it can be
// fused with their places. Others are hashes.

// maxSlot is the first number that is no such key.
const maxSlot = 64

// noteSlot notes the key by which a map adds up. What cpu is, is below the number of CPUs.
func (c *checker) noteSlot(e *Expr) {
	if len(e.Args) != 1 {
		return
	}
	n, ok := c.constant(e.Args[0])
	if k := e.Args[0]; k.Kind == Builtin && k.Name == "cpu" {
		n, ok = int64(max(1, c.opt.CPUs)-1), true
	}
	if ok && n >= 0 && n < maxSlot {
		e.m.plain++
		e.m.slots = max(e.m.slots, int(n)+1)
	}
}

// IsArray tells whether the map has a fixed number of values for each CPU, which are always there. Where there are keys,
// those whose values are all 0 have not been used.
func (m *Map) IsArray() bool {
	switch m.Value.Kind {
	case Count, Sum, Avg, Stats, Hist, LHist:
		return len(m.Key) == 0 || m.slots > 0 && m.uses == m.plain && !m.evicts && m.entries == 0
	}
	return false
}

// KeySize is how many bytes a key has.
func (m *Map) KeySize() int {
	switch n := (Type{Kind: TupleOf, Elems: m.Key}).Size(); {
	case m.IsArray():
		return 4 // the bucket, or the key, or key*Buckets + bucket
	case m.Value.HasBuckets():
		return n + 8 // with the bucket
	default:
		return max(n, 8)
	}
}

// counts tells whether a value has how many numbers are in it, before their sum.
func (m *Map) counts() bool {
	k := m.Value.Kind
	return k == Avg || k == Stats || k == Sum && m.IsArray() && len(m.Key) > 0
}

// Element tells what an element of a table is about: the key and its value; of a histogram, the bucket that is counted.
// False: nothing was added there.
func (m *Map) Element(raw, value []byte) (key string, of []byte, bucket int, ok bool) {
	switch {
	case !m.IsArray() && m.Value.HasBuckets():
		end := len(raw) - 8
		return string(raw[:end]), value, int(binary.LittleEndian.Uint64(raw[end:])), true
	case !m.IsArray():
		return string(raw), value, 0, true
	case len(m.Key) == 0 && !m.Value.HasBuckets():
		return "", value, 0, true
	}
	index := int(binary.LittleEndian.Uint32(raw))
	if m.Value.HasBuckets() {
		n := Buckets(m.Value)
		index, bucket = index/n, index%n
	}
	if len(m.Key) > 0 {
		key = string(binary.LittleEndian.AppendUint64(nil, uint64(index)))
	}
	ok = binary.LittleEndian.Uint64(value) != 0
	if m.Value.Kind == Sum {
		value = value[8:]
	}
	return key, value, bucket, ok
}

// spec is what the engine needs to make the map.
func (m *Map) spec(s *Settings) *bpf.MapSpec {
	spec := &bpf.MapSpec{Name: m.Name, Type: bpf.Hash, KeySize: uint32(m.KeySize()), ValueSize: uint32(max(8, m.Value.Size())), MaxEntries: uint32(s.MaxKeys)}
	if m.entries > 0 {
		spec.MaxEntries = uint32(m.entries)
	}
	switch {
	case m.IsArray():
		spec.Type, spec.MaxEntries = bpf.PerCPUArray, uint32(max(1, m.slots))
		if m.Value.HasBuckets() {
			spec.MaxEntries *= uint32(Buckets(m.Value))
		}
		if m.counts() {
			spec.ValueSize = 16
		}
	case m.Value.Aggregates():
		spec.Type = pick(m.evicts, bpf.LRUPerCPUHash, bpf.PerCPUHash)
	case m.evicts:
		spec.Type = bpf.LRUHash
	case len(m.Key) == 0:
		spec.MaxEntries = 1
	}
	return spec
}
