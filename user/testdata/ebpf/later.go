package main

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// later counts writes to memory that is mapped when the breakpoint on it is there already.
func later() {
	const addr, page, writes = 0x100000, 4096, 3
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := unix.PerfEventAttr{Type: unix.PERF_TYPE_BREAKPOINT, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Bp_type: 2, Ext1: addr, Ext2: 4,
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	fd := got(unix.PerfEventOpen(&a, 0, -1, -1, 0))
	defer unix.Close(fd)
	if _, _, e := unix.Syscall6(unix.SYS_MMAP, addr, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED, ^uintptr(0), 0); e != 0 {
		check(e)
	}
	defer unix.Syscall(unix.SYS_MUNMAP, addr, page, 0)
	at := uintptr(addr)
	word := *(**uint32)(unsafe.Pointer(&at)) // no pointer of Go's
	for range writes {
		atomic.StoreUint32(word, atomic.LoadUint32(word)+1)
	}
	var b [8]byte
	got(unix.Read(fd, b[:]))
	want("hits", binary.LittleEndian.Uint64(b[:]), writes)
}
