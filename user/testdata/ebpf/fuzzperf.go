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
	if len(f.fds) > 0 && f.rnd.Intn(3) == 0 {
		group = f.fds[f.rnd.Intn(len(f.fds))]
	}
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(attr)), uintptr(pid), uintptr(f.rnd.Intn(6)-1), uintptr(group), uintptr(f.rnd.Intn(3)*8), 0)
	if errno == 0 {
		f.took(int(fd))
	}
	if len(f.fds) > 0 {
		f.usePerf(f.fds[f.rnd.Intn(len(f.fds))])
	}
}

// usePerf asks something of an event.
func (f *fuzzer) usePerf(fd int) {
	switch f.rnd.Intn(4) {
	case 0:
		const requests = 0x2400 // _IO('$', 0) and so on
		arg := f.mem[64:]
		syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), uintptr(requests+f.rnd.Intn(12)), uintptr(unsafe.Pointer(&arg[0])))
	case 1:
		syscall.Read(fd, f.mem[128:128+f.rnd.Intn(128)])
	case 2:
		if mem, err := syscall.Mmap(fd, 0, (f.rnd.Intn(6))*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err == nil {
			syscall.Munmap(mem)
		}
	}
}
