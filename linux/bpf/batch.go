package sysbpf

import (
	"encoding/binary"
	"slices"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/probe/program"
)

// Commands for many entries at once: the arguments are in_batch 0, out_batch 8, keys 16, values 24, count 32,
// map_fd 36, elem_flags 40, flags 48. A batch is the place to continue at, 4 bytes that only we read.

const batchEnd, countAt = 56, 32

// batch is such a call.
type batch struct {
	*call
	*mapFile
	keys, values uint64
	count        int
	done         int
}

// unbatched are further maps whose entries are taken one by one.
var unbatched = []bpf.MapType{bpf.PerfEventArray, bpf.StackTrace, bpf.ProgArray}

// startBatch checks the arguments. The caller closes the file.
func (c *call) startBatch(want int) (usedMap, *batch, error) {
	if c.u64(48) != 0 || c.u64(40) != 0 {
		return usedMap{}, nil, refusal.New(syscall.EINVAL, "flags of a batch are not known")
	}
	f, h, err := c.holdMap(c.fd(36), want)
	if err != nil {
		return usedMap{}, nil, err
	}
	if isQueue(h.m) || h.m.Shared() != nil || hasMaps(h.m) || slices.Contains(unbatched, h.m.Spec.Type) {
		f.release()
		return usedMap{}, nil, refusal.New(syscall.EOPNOTSUPP, "map %s: a %s has no batches", h.m.Spec.Name, h.m.Spec.Type)
	}
	return f, &batch{call: c, mapFile: h, keys: c.u64(16), values: c.u64(24), count: int(c.u32(countAt))}, nil
}

// end tells the process how far it came.
func (b *batch) end(err error) (uint64, error) {
	if fault := b.put32(countAt, uint32(b.done)); fault != nil {
		return 0, fault
	}
	return 0, err
}

// key and value are those of the next entry.
func (b *batch) key() ([]byte, error) {
	n := int(b.m.Spec.KeySize)
	return b.in(b.keys+uint64(b.done*n), n)
}

func (b *batch) value() ([]byte, error) {
	n := valueSize(b.m)
	return b.in(b.values+uint64(b.done*n), n)
}

// onEntries makes a command of a function that does it to the next entry.
func onEntries(one func(b *batch) error) func(c *call) (uint64, error) {
	return func(c *call) (uint64, error) {
		f, b, err := c.startBatch(forWrite)
		if err != nil {
			return 0, err
		}
		defer f.release()
		for ; b.done < b.count; b.done++ {
			if err := one(b); err != nil {
				return b.end(err)
			}
		}
		return b.end(nil)
	}
}

func (b *batch) updateOne() error {
	key, err := b.key()
	if err != nil {
		return err
	}
	value, err := b.value()
	if err != nil {
		return err
	}
	return b.update(b.call, key, value, program.Any)
}

func (b *batch) removeOne() error {
	key, err := b.key()
	if err != nil {
		return err
	}
	return b.remove(key)
}

func mapLookupBatch(c *call) (uint64, error) { return c.lookUpBatch(forRead) }

func mapTakeBatch(c *call) (uint64, error) { return c.lookUpBatch(forBoth) }

// lookUpBatch copies entries from a place on, and takes them away if the map is wanted for writing. It ends with
// ENOENT after the last one.
func (c *call) lookUpBatch(want int) (uint64, error) {
	f, b, err := c.startBatch(want)
	if err != nil {
		return 0, err
	}
	defer f.release()
	if b.count == 0 {
		return 0, nil
	}
	from := uint64(0)
	if c.u64(0) != 0 {
		cursor, err := c.in(c.u64(0), 4)
		if err != nil {
			return 0, err
		}
		from = uint64(binary.LittleEndian.Uint32(cursor))
	}
	from, err = b.collect(from, want == forBoth)
	if fault := c.Out(c.u64(8), binary.LittleEndian.AppendUint32(nil, uint32(from))); fault != nil {
		return 0, fault
	}
	return b.end(err)
}

// collect copies as many entries as there is room for, and returns where to continue.
func (b *batch) collect(from uint64, away bool) (uint64, error) {
	key, value := make([]byte, b.m.Spec.KeySize), make([]byte, valueSize(b.m))
	for b.done < b.count {
		next, ok := b.m.Scan(from, key)
		if !ok {
			return from, refusal.New(syscall.ENOENT, "map %s has no more keys", b.m.Spec.Name)
		}
		clear(value)
		if lookup(b.m, key, value) == nil {
			if err := b.Out(b.keys+uint64(b.done*len(key)), key); err != nil {
				return from, err
			}
			if err := b.Out(b.values+uint64(b.done*len(value)), value); err != nil {
				return from, err
			}
			if away {
				if err := b.remove(key); err != nil {
					return from, err
				}
			}
			b.done++
		}
		from = next
	}
	return from, nil
}
