package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// pinnedLinks: what a file stands for continues when its descriptors are closed, and ends with the file.
func pinnedLinks() error {
	const file = "/sys/fs/bpf/ebpf_link"
	for name, attach := range map[string]func(p *ebpf.Program) (link.Link, error){
		"a perf event's": func(p *ebpf.Program) (link.Link, error) { return link.Kprobe("syscall_getppid", p, nil) },
		"its own": func(p *ebpf.Program) (link.Link, error) {
			return link.KprobeMulti(p, link.KprobeMultiOptions{Symbols: []string{"syscall_getppid"}})
		},
	} {
		kind := ebpf.AttachType(0)
		if name == "its own" {
			kind = ebpf.AttachTraceKprobeMulti
		}
		p, m, err := counting(kind)
		if err != nil {
			return err
		}
		defer m.Close()
		l, err := attach(p)
		if err != nil {
			return err
		}
		if err := errors.Join(l.Pin(file), l.Close(), p.Close()); err != nil {
			return err
		}
		before, err := countOf(m)
		if err != nil {
			return err
		}
		for range 10 {
			use()
		}
		during, err := countOf(m)
		if err := errors.Join(err, want(name+" link counts while it is pinned", during >= before+10, true)); err != nil {
			os.Remove(file)
			return err
		}
		again, err := link.LoadPinnedLink(file, nil)
		if err := errors.Join(err, os.Remove(file)); err != nil {
			return err
		}
		use()
		held, err := countOf(m)
		if err := errors.Join(err, want(name+" link counts while it is open", held > during, true), again.Close()); err != nil {
			return err
		}
		before, err = countOf(m)
		use()
		after, err2 := countOf(m)
		if err := errors.Join(err, err2, want(name+" link has ended", after, before)); err != nil {
			return err
		}
	}
	return nil
}

// countOf is what counting has counted.
func countOf(m *ebpf.Map) (n uint64, err error) { return n, m.Lookup(uint32(0), &n) }

// heirs: a program that is executed gets a map by a descriptor, and has it when the parent has closed it.
func heirs() error {
	if name := os.Getenv("HEIR"); name != "" {
		m, err := ebpf.NewMapFromFD(3)
		if err != nil {
			return err
		}
		defer m.Close()
		return m.Put(uint32(0), uint64(42))
	}
	m, err := newMap(ebpf.Array, 4, 8, 1, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	own, err := syscall.Dup(m.FD())
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(own), "map")
	defer file.Close()
	child := exec.Command("/proc/self/exe", "-only", "heirs")
	child.Env = append(os.Environ(), "HEIR=1")
	child.ExtraFiles = []*os.File{file}
	if out, err := child.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	n, err := countOf(m)
	return errors.Join(err, want("what the child has stored", n, 42))
}

// unmapped maps a perf event's ring again and again while programs write into it, and closes it while it is mapped.
func unmapped() error {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerfEventArray})
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := load(ebpf.Kprobe, 0,
		asm.Mov.Imm(asm.R3, 0x1234), asm.StoreMem(asm.RFP, -8, asm.R3, asm.DWord), asm.LoadMapPtr(asm.R2, m.FD()), asm.LoadImm(asm.R3, 0xffffffff, asm.DWord),
		asm.Mov.Reg(asm.R4, asm.RFP), asm.Add.Imm(asm.R4, -8), asm.Mov.Imm(asm.R5, 8), asm.FnPerfEventOutput.Call(), asm.Mov.Imm(asm.R0, 0))
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := link.Kprobe("syscall_getppid", p, nil)
	if err != nil {
		return err
	}
	defer l.Close()
	var done atomic.Bool
	var all sync.WaitGroup
	defer all.Wait()
	defer done.Store(true)
	all.Go(func() {
		for !done.Load() {
			use()
		}
	})
	for i := range 300 {
		var rings [4][]byte
		var fds [4]int
		for cpu := range fds {
			if fds[cpu], err = output(cpu); err != nil {
				break
			}
			if rings[cpu], err = syscall.Mmap(fds[cpu], 0, (1+1<<(i%4))*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err != nil {
				return fmt.Errorf("ring %d of CPU %d: %w", i, cpu, err)
			}
			if err := m.Put(uint32(cpu), uint32(fds[cpu])); err != nil {
				return fmt.Errorf("event of CPU %d: %w", cpu, err)
			}
		}
		use()
		for cpu, ring := range rings {
			if ring == nil {
				continue
			}
			if i%2 == 0 {
				syscall.Close(fds[cpu])
			}
			if err := syscall.Munmap(ring); err != nil {
				return err
			}
			if i%2 != 0 {
				syscall.Close(fds[cpu])
			}
		}
	}
	return nil
}

// output opens an event of a CPU for what programs put out.
func output(cpu int) (int, error) {
	var attr [16]uint64
	attr[0] = 1 | 128<<32 // software
	attr[1] = 10          // BPF_OUTPUT
	attr[2] = 1           // a sample for each
	attr[3] = 1 << 10     // PERF_SAMPLE_RAW
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), ^uintptr(0), uintptr(cpu), ^uintptr(0), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// remapped has threads map the ring of the same perf event at once, write into it and unmap it: often, because the
// moment in which one takes what another gives back is short.
func remapped() error {
	attr := [16]uint64{1 | 128<<32, 10} // what programs put out
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), ^uintptr(0), 0, ^uintptr(0), 0, 0)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(int(fd))
	const threads, times = 4, 40_000
	var errs [threads]error
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for n := 0; n < times && errs[i] == nil; n++ {
				ring, err := syscall.Mmap(int(fd), 0, 2*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
				if err != nil {
					errs[i] = fmt.Errorf("mapping %d: %w", n, err)
					return
				}
				ring[4096+i]++
				errs[i] = syscall.Munmap(ring)
			}
		})
	}
	all.Wait()
	return errors.Join(errs[:]...)
}
