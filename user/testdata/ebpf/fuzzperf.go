package main

import (
	"os"
	"syscall"
	"unsafe"
)

// perfCall makes one call of perf_event_open(2), and uses what comes back: it is asked, mapped, read and closed.
func (f *fuzzer) perfCall() {
	attr := new([160]byte)
	word := func(off int, v uint64) { *(*uint64)(unsafe.Pointer(&attr[off])) = v }
	half := func(off int, v uint32) { *(*uint32)(unsafe.Pointer(&attr[off])) = v }
	half(0, uint32(f.rnd.Intn(10))) // type
	half(4, []uint32{64, 112, 128, 136}[f.rnd.Intn(4)])
	word(8, uint64(f.rnd.Intn(12))) // config
	word(16, uint64(f.number()))    // period or frequency
	word(24, 1<<f.rnd.Intn(12))     // of samples
	word(32, 1<<f.rnd.Intn(7))      // of reads
	if f.rnd.Intn(3) > 0 {
		word(32, 0)
	}
	word(40, 1<<f.rnd.Intn(30)) // flags
	half(52, uint32(f.rnd.Intn(6)))
	name := append([]byte([]string{"vfs_read", "/bin/ebpf", "vfs_*", ""}[f.rnd.Intn(4)]), 0)
	copy(f.mem[:], name)
	f.pointers(attr[:], 56)
	word(64, uint64(f.rnd.Intn(9)))
	if f.rnd.Intn(20) == 0 {
		f.rnd.Read(attr[:])
	}
	pid := []int{-1, 0, os.Getpid(), f.rnd.Int()}[f.rnd.Intn(4)]
	group := -1
	if fd, ok := f.pool.any(f.rnd); ok && f.rnd.Intn(3) == 0 {
		group = fd
	}
	cpu, flags := f.rnd.Intn(6)-1, f.rnd.Intn(3)*8
	if f.rnd.Intn(3) > 0 { // as a rule something that there is, on all threads of a CPU or on all CPUs of a thread
		f.event(attr)
		pid, cpu, flags = -1, f.rnd.Intn(2), 0
		if f.rnd.Intn(2) == 0 {
			pid, cpu = 0, -1
		}
	}
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(attr)), uintptr(pid), uintptr(cpu), uintptr(group), uintptr(flags), 0)
	if errno == 0 {
		f.took(int(fd))
	}
	if fd, ok := f.pool.any(f.rnd); ok {
		f.usePerf(fd)
	}
}

// event describes an event that there is.
func (f *fuzzer) event(attr *[160]byte) {
	kinds := [][2]uint64{{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 9}, {1, 10}, {1, 10}, {2, 1 + uint64(f.rnd.Intn(400))}, {5, 0}, {6, uint64(f.rnd.Intn(2))}, {7, uint64(f.rnd.Intn(2))}}
	kind := kinds[f.rnd.Intn(len(kinds))]
	period := []uint64{0, 1, 1000, 1e6}[f.rnd.Intn(4)]
	words := (*[20]uint64)(unsafe.Pointer(attr))
	*words = [20]uint64{kind[0] | 128<<32, kind[1], period, 1 << 10, uint64(f.rnd.Intn(16)), uint64(f.rnd.Intn(2))}
	name := "syscall_getppid\x00"
	switch kind[0] {
	case 5:
		words[6], words[7], words[8] = 2<<32, uint64(uintptr(unsafe.Pointer(&f.mem[4096]))), 8
	case 7:
		name = "/proc/self/exe\x00"
		words[8] = 0x1000 * uint64(f.rnd.Intn(4))
		fallthrough
	case 6:
		copy(f.mem[2048:], name)
		words[7] = uint64(uintptr(unsafe.Pointer(&f.mem[2048])))
	}
}

// Requests of ioctl for perf events: those that take a number or nothing, and those that take an address.
var (
	perfNumbers   = []uintptr{0x2400, 0x2401, 0x2402, 0x2403, 0x2405, 0x40042408, 0x40042409}
	perfAddresses = []uintptr{0x40082404, 0x40082406, 0x80082407, 0xc008240a, 0x4008240b}
)

// usePerf asks something of an event. Some of its rings stay mapped when it has been closed.
func (f *fuzzer) usePerf(fd int) {
	switch f.rnd.Intn(5) {
	case 0:
		other, _ := f.pool.any(f.rnd)
		syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), perfNumbers[f.rnd.Intn(len(perfNumbers))], uintptr([]int{0, 1, other, -1}[f.rnd.Intn(4)]))
	case 1:
		f.pointers(f.mem[32:], 0)
		arg := *(*uintptr)(unsafe.Pointer(&f.mem[32]))
		syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), perfAddresses[f.rnd.Intn(len(perfAddresses))], arg)
	case 2:
		syscall.Read(fd, f.mem[128:128+f.rnd.Intn(128)])
	case 3:
		if mem, err := syscall.Mmap(fd, 0, (f.rnd.Intn(6))*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err == nil {
			f.rings = append(f.rings, mem)
		}
		if n := len(f.rings); n > 4 || n > 0 && f.rnd.Intn(2) == 0 {
			syscall.Munmap(f.rings[0])
			f.rings = f.rings[1:]
		}
	}
}
