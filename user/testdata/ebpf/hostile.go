package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// pinnedLinks: what a file stands for continues when its descriptors are closed, and ends with the file.
func pinnedLinks() {
	pinnedLink("a perf event's", 0, func(p *ebpf.Program) (link.Link, error) { return link.Kprobe("syscall_getppid", p, nil) })
	pinnedLink("its own", ebpf.AttachTraceKprobeMulti, func(p *ebpf.Program) (link.Link, error) {
		return link.KprobeMulti(p, link.KprobeMultiOptions{Symbols: []string{"syscall_getppid"}})
	})
}

func pinnedLink(name string, kind ebpf.AttachType, attach func(p *ebpf.Program) (link.Link, error)) {
	const file = "/sys/fs/bpf/ebpf_link"
	p, m := counting(kind)
	defer m.Close()
	l := got(attach(p))
	check(l.Pin(file), l.Close(), p.Close())
	defer os.Remove(file) // if it fails
	before := at[uint64](m, 0)
	for range 10 {
		use()
	}
	during := at[uint64](m, 0)
	want(name+" link counts while it is pinned", during >= before+10, true)
	again := got(link.LoadPinnedLink(file, nil))
	check(os.Remove(file))
	use()
	want(name+" link counts while it is open", at[uint64](m, 0) > during, true)
	check(again.Close())
	before = at[uint64](m, 0)
	use()
	want(name+" link has ended", at[uint64](m, 0), before)
}

// heirs: a program that is executed gets a map by a descriptor, and has it when the parent has closed it.
func heirs() {
	if name := os.Getenv("HEIR"); name != "" {
		m := got(ebpf.NewMapFromFD(3))
		defer m.Close()
		check(m.Put(uint32(0), uint64(42)))
		return
	}
	m := newMap(ebpf.Array, 4, 8, 1, 0)
	defer m.Close()
	file := os.NewFile(uintptr(got(syscall.Dup(m.FD()))), "map")
	defer file.Close()
	child := exec.Command("/proc/self/exe", "-only", "heirs")
	child.Env = append(os.Environ(), "HEIR=1")
	child.ExtraFiles = []*os.File{file}
	if out, err := child.CombinedOutput(); err != nil {
		fail("%w\n%s", err, out)
	}
	want("what the child has stored", at[uint64](m, 0), 42)
}

// unmapped maps a perf event's ring again and again while programs write into it, and closes it while it is mapped.
func unmapped() {
	m := got(ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerfEventArray}))
	defer m.Close()
	p := output(m)
	defer p.Close()
	l := got(link.Kprobe("syscall_getppid", p, nil))
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
			fd, err := event(1, 10, 1, 1<<10, cpu) // what programs put out, a sample for each, with what it is
			if err != nil {
				break // there are no more CPUs
			}
			if rings[cpu], err = ringOf(fd, 1+1<<(i%4)); err != nil {
				fail("ring %d of CPU %d: %w", i, cpu, err)
			}
			if fds[cpu] = fd; m.Put(uint32(cpu), uint32(fd)) != nil {
				fail("the event of CPU %d is refused", cpu)
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
			check(syscall.Munmap(ring))
			if i%2 != 0 {
				syscall.Close(fds[cpu])
			}
		}
	}
}

// event opens an event of software, for all threads of a CPU.
func event(kind, config, period, samples uint64, cpu int) (int, error) {
	attr := [16]uint64{kind | 128<<32, config, period, samples}
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), ^uintptr(0), uintptr(cpu), ^uintptr(0), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

func ringOf(fd, pages int) ([]byte, error) {
	return syscall.Mmap(fd, 0, pages*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// remapped has threads map the ring of the same perf event at once, write into it and unmap it: often, because the
// moment in which one takes what another gives back is short.
func remapped() {
	fd := got(event(1, 10, 0, 0, 0)) // what programs put out
	defer syscall.Close(fd)
	const threads, times = 4, 40_000
	var errs [threads]error
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for n := 0; n < times && errs[i] == nil; n++ {
				ring, err := ringOf(fd, 2)
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
	check(errs[:]...)
}
