package sim

import (
	"encoding/binary"
	"syscall"

	"sonde/bpf"
	"sonde/internal/interp"
	"sonde/trace/lang"
)

// Where memory is, as programs see it: a stride for each place.
const (
	regsBase    = 0x1000
	valueBase   = 0x4000_0000
	valueStride = 1 << 20
)

// table is a map: one table, or one for each CPU. Values are places of the session.
type table struct {
	*session
	spec *bpf.MapSpec
	cpus []*keys
	lost uint64 // values that it had no room for
}

// keys are in the order in which they were added.
type keys struct {
	order  []string
	places map[string]int
}

func (s *session) newTable(spec *bpf.MapSpec) *table {
	t := &table{session: s, spec: spec, cpus: []*keys{{places: map[string]int{}}}}
	switch spec.Type {
	case bpf.PerCPUArray, bpf.PerCPUHash, bpf.LRUPerCPUHash:
		for len(t.cpus) < CPUs {
			t.cpus = append(t.cpus, &keys{places: map[string]int{}})
		}
	}
	if spec.Type == bpf.Array || spec.Type == bpf.PerCPUArray {
		for cpu := range t.cpus {
			for i := range spec.MaxEntries {
				t.add(cpu, string(binary.LittleEndian.AppendUint32(nil, i)))
			}
		}
	}
	return t
}

func (s *session) region(place int) interp.Region {
	return interp.Region{Name: "value", Base: valueBase + uint64(place)*valueStride, Bytes: s.places[place], Writable: true}
}

// element is the place of the value that the running CPU has at index 0.
func (t *table) element() int { return t.cpus[len(t.cpus)-1].places[string(make([]byte, 4))] }

func (s *session) address(place int) uint64 { return valueBase + uint64(place)*valueStride }

// add returns the place of a key's value, which it makes; -1: the table is full.
func (t *table) add(cpu int, key string) int {
	k := t.cpus[cpu]
	if place, ok := k.places[key]; ok {
		return place
	}
	if len(k.order) >= int(t.spec.MaxEntries) {
		if t.spec.Type != bpf.LRUHash && t.spec.Type != bpf.LRUPerCPUHash {
			t.lost++
			return -1
		}
		t.Delete(cpu, []byte(k.order[0]))
	}
	t.places = append(t.places, make([]byte, t.spec.ValueSize))
	k.places[key], k.order = len(t.places)-1, append(k.order, key)
	return len(t.places) - 1
}

// Tables is part of out.Table, as the following are.
func (t *table) Tables() int { return len(t.cpus) }

func (t *table) Range(cpu int, f func(key, value []byte) bool) {
	for _, key := range t.cpus[cpu].order {
		if !f([]byte(key), t.places[t.cpus[cpu].places[key]]) {
			return
		}
	}
}

func (t *table) Update(cpu int, key, value []byte) error {
	place := t.add(cpu, string(key))
	if place < 0 {
		return syscall.E2BIG
	}
	copy(t.places[place], value)
	return nil
}

func (t *table) Delete(cpu int, key []byte) error {
	k := t.cpus[cpu]
	if _, ok := k.places[string(key)]; !ok {
		return syscall.ENOENT
	}
	delete(k.places, string(key))
	for i, have := range k.order {
		if have == string(key) {
			k.order = append(k.order[:i:i], k.order[i+1:]...)
			break
		}
	}
	return nil
}

// control sets a word of the first map.
func (s *session) control(offset int, value uint64) {
	binary.LittleEndian.PutUint64(s.places[s.tables[lang.ControlMap].element()][offset:], value)
}
