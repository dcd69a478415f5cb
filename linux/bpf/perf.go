package sysbpf

import (
	"encoding/binary"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/ring"
)

// PerfEvent is the handle of a file of perf_event_open(2) into which programs can put out data. Its ring is the
// same as long as the file is open.
type PerfEvent interface {
	PerfRing() *ring.Perf
}

// ringOf returns the ring of a perf event's file; nil: the file is another one.
func ringOf(f *vfs.File) *ring.Perf {
	if e, ok := f.Handle().(PerfEvent); ok {
		return e.PerfRing()
	}
	return nil
}

// putPerf puts the perf event of a descriptor into a map, or replaces the one that is there.
func (f *mapFile) putPerf(c *call, key, value []byte) error {
	event, err := c.Hold(int(int32(binary.LittleEndian.Uint32(value))))
	if err != nil {
		return err
	}
	at, r := binary.LittleEndian.Uint32(key), ringOf(event)
	if r == nil {
		err = refusal.New(syscall.EINVAL, "%s is no perf event that data can be put into", event.Name())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		err = f.m.SetPerf(at, r)
	}
	if err != nil {
		vfs.Close(event)
		return err
	}
	if old := f.perfs[at]; old != nil {
		vfs.Close(old)
	}
	if f.perfs == nil {
		f.perfs = map[uint32]*vfs.File{}
	}
	f.perfs[at] = event
	return nil
}

// dropPerf takes a perf event out of a map.
func (f *mapFile) dropPerf(key []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := binary.LittleEndian.Uint32(key)
	if err := f.m.SetPerf(at, nil); err != nil {
		return err
	}
	if old := f.perfs[at]; old != nil {
		delete(f.perfs, at)
		vfs.Close(old)
	}
	return nil
}
