package sysbpf

import (
	"encoding/binary"
	"syscall"
	"time"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/program"
)

// notSupported is Linux's ENOTSUPP, which programs see as 524.
const notSupported = syscall.Errno(524)

const (
	rawArgsMost = 12 * 8
	packetLeast = 14 // bytes: the head of a frame of Ethernet
	packetMost  = 4096 - 320
	packetView  = 192 // bytes of struct __sk_buff
	repeatMost  = 1 << 20
	flagOnCPU   = 1
)

// progRun is PROG_TEST_RUN: prog_fd 0, retval 4, data_size_in 8, data_size_out 12, data_in 16, data_out 24, repeat
// 32, duration 36, ctx_size_in 40, ctx_size_out 44, ctx_in 48, ctx_out 56, flags 64, cpu 68, batch_size 72.
func progRun(c *call, p *program.Prog) (uint64, error) {
	switch p.Type() {
	case bpf.RawTracepoint:
		return done(c.runRaw(p))
	case bpf.SocketFilter:
		return done(c.runFilter(p))
	}
	return 0, refusal.New(notSupported, "a program of type %s is not run without a hit", p.Type())
}

// runRaw runs a program with arguments of a tracepoint.
func (c *call) runRaw(p *program.Prog) error {
	size, flags := int(c.u32(40)), c.u32(64)
	switch {
	case !zero(c.attr[8:40]), c.u64(56) != 0, c.u32(44) != 0, c.u32(72) != 0:
		return refusal.New(syscall.EINVAL, "a raw_tracepoint program has no data, is run once, and changes nothing")
	case flags&^flagOnCPU != 0, flags&flagOnCPU == 0 && c.u32(68) != 0, size > rawArgsMost, size < least(p):
		return refusal.New(syscall.EINVAL, "flags %#x, CPU %d, %d bytes of arguments: the program reads %d", flags, c.u32(68), size, least(p))
	case flags&flagOnCPU != 0:
		return c.missing("a run on a chosen CPU")
	}
	args, err := c.in(c.u64(48), size)
	if err != nil {
		return err
	}
	return c.put32(4, p.Run("", words(args, rawArgsMost)))
}

// least is how many bytes of its context a program reads.
func least(p *program.Prog) (n int) {
	for _, l := range p.Checked.Ctx {
		n = max(n, l.Off+l.Size)
	}
	return n
}

// words returns bytes as size/8 words; what is not there is 0.
func words(b []byte, size int) []uint64 {
	b = append(b, make([]byte, size-len(b))...)
	all := make([]uint64, size/8)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return all
}

// runFilter runs a program with a packet, of which it sees the length.
func (c *call) runFilter(p *program.Prog) error {
	size, repeat := int(c.u32(8)), max(1, c.u32(32))
	switch {
	case size < packetLeast || size > packetMost:
		return refusal.New(syscall.EINVAL, "a packet of %d bytes: give %d to %d", size, packetLeast, packetMost)
	case c.u32(64) != 0 || c.u32(68) != 0 || c.u32(72) != 0 || c.u32(40) != 0 || c.u64(48) != 0:
		return c.missing("a run with a context, flags or batches")
	case repeat > repeatMost:
		return refusal.New(syscall.EINVAL, "%d runs: at most %d", repeat, repeatMost)
	}
	data, err := c.in(c.u64(16), size)
	if err != nil {
		return err
	}
	view := words(binary.LittleEndian.AppendUint32(nil, uint32(size)), packetView)
	result, begin := uint32(0), time.Now()
	for range repeat {
		if c.Wanted() {
			return refusal.New(syscall.EINTR, "not all of %d runs were made", repeat)
		}
		result = p.Run("", view)
	}
	each := time.Since(begin) / time.Duration(repeat)
	return c.ran(result, each, data)
}

// ran tells what a run has returned, how long it took, and the packet, as it was.
func (c *call) ran(result uint32, each time.Duration, data []byte) error {
	room, to := int(c.u32(12)), c.u64(24)
	short := room > 0 && room < len(data)
	if to != 0 {
		if room > 0 {
			data = data[:min(room, len(data))]
		}
		if err := c.Out(to, data); err != nil {
			return err
		}
	}
	for _, r := range []struct{ at, v int }{{12, int(max(c.u32(8), 0))}, {4, int(result)}, {36, int(each)}} {
		if err := c.put32(r.at, uint32(r.v)); err != nil {
			return err
		}
	}
	if to != 0 && short {
		return refusal.New(syscall.ENOSPC, "the packet has %d bytes, and there is room for %d", c.u32(8), room)
	}
	return nil
}

// statsFile keeps hits being measured as long as it is open. It implements vfs.Handle.
type statsFile struct {
	file
	stop []func()
}

func (f *statsFile) Close() error {
	for _, stop := range f.stop {
		stop()
	}
	return nil
}

// enableStats is ENABLE_STATS: type 0. Programs that are loaded at that time are measured, one hit in 64.
func enableStats(c *call) (uint64, error) {
	if c.u32(0) != 0 {
		return 0, refusal.New(syscall.EINVAL, "statistics of type %d are not known", c.u32(0))
	}
	h := &statsFile{file: file{Anonymous: vfs.NewAnonymous(anonymous)}}
	for _, p := range program.Programs() {
		if stop, err := p.Watch(); err == nil {
			h.stop = append(h.stop, stop)
		}
	}
	return c.Install(vfs.NewFile("anon_inode:bpf-stats", h, h, 0))
}

// spent estimates the ns that a program took, from the hits that were measured.
func spent(p *program.Prog) (ns uint64) {
	for _, cost := range p.Costs() {
		ns += uint64(cost.PerHit() * float64(cost.Entered))
	}
	return ns
}
