package main

import (
	"fmt"
	"math/rand"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const numBPF = 321

// fuzz makes n calls with random arguments, in several threads: most of them nearly right. Descriptors that come back
// are used in later calls of all threads, or closed, also while another thread uses them.
func fuzz(n int, seed int64, call func(*fuzzer)) {
	const threads = 4
	var all sync.WaitGroup
	var left, served, refused, silent atomic.Int64
	left.Store(int64(n))
	shared := &pool{}
	for i := range int64(threads) {
		all.Go(func() {
			f := &fuzzer{rnd: rand.New(rand.NewSource(seed + i)), pool: shared}
			for left.Add(-1) >= 0 {
				call(f)
			}
			for _, ring := range f.rings {
				syscall.Munmap(ring)
			}
			served.Add(f.served)
			refused.Add(f.refused)
			silent.Add(f.silent)
		})
	}
	all.Wait()
	for _, fd := range shared.fds {
		syscall.Close(fd)
	}
	syscall.Unlink("/sys/fs/bpf/fuzzed")
	fmt.Printf("%d random calls, %d of them served, %d programs refused\n", n, served.Load(), refused.Load())
	want("served", served.Load() > int64(n/50), true)
	want("programs that were refused without a log", silent.Load(), 0)
}

// pool has the descriptors of all threads.
type pool struct {
	mu  sync.Mutex
	fds []int // guarded by mu
}

// any returns one of them, if there is one.
func (p *pool) any(rnd *rand.Rand) (fd int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fds) == 0 {
		return 0, false
	}
	return p.fds[rnd.Intn(len(p.fds))], true
}

// add puts one there, and returns one that is to be closed, now and then.
func (p *pool) add(fd int, rnd *rand.Rand) (old int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fd > 2 {
		p.fds = append(p.fds, fd)
	}
	if len(p.fds) <= 100 && (len(p.fds) == 0 || rnd.Intn(20) > 0) {
		return 0, false
	}
	i := rnd.Intn(len(p.fds))
	old = p.fds[i]
	p.fds = append(p.fds[:i], p.fds[i+1:]...)
	return old, true
}

type fuzzer struct {
	rnd    *rand.Rand
	pool   *pool
	served int64
	// programs that the verifier refused, with room for a log; and those of them without one
	refused, silent int64
	log             []byte         // of the program of the next call; nil: none, or one that may not fit
	rings           [][]byte       // of perf events, that are mapped
	mem             [16 << 10]byte // as much as a batch of values of all CPUs takes, and more
}

// either makes a call of one kind or the other: programs meet events.
func (f *fuzzer) either() {
	if f.rnd.Intn(2) == 0 {
		f.call()
	} else {
		f.perfCall()
	}
}

// shapes are type, sizes of keys and values, number of entries, and flags of maps that can be made.
var shapes = [][5]uint32{{1, 4, 8, 16, 0}, {1, 8, 200, 1000, 1}, {2, 4, 8, 100, 0}, {2, 4, 8, 1024, 1 << 10}, {3, 4, 4, 8, 0}, {4, 4, 4, 4, 0}, {5, 4, 8, 16, 0}, {6, 4, 8, 16, 0}, {7, 4, 80, 16, 0},
	{9, 4, 8, 16, 0}, {10, 4, 8, 16, 0}, {12, 4, 4, 8, 0}, {13, 4, 4, 8, 0}, {22, 0, 8, 16, 0}, {23, 0, 8, 16, 0}, {27, 0, 0, 4096, 0}, {27, 0, 0, 1 << 20, 0}}

// call makes one call of bpf(2).
func (f *fuzzer) call() {
	attr := new([160]byte)
	size := 144
	cmd := f.rnd.Intn(38)
	if f.rnd.Intn(2) == 0 {
		cmd = []int{0, 1, 2, 3, 4, 5, 6, 7, 15, 21, 22, 28}[f.rnd.Intn(12)]
	}
	for off := 0; off < 72; off += 4 {
		*(*uint32)(unsafe.Pointer(&attr[off])) = f.number()
	}
	if f.rnd.Intn(4) > 0 { // nothing after what the command knows
		ends := map[int]int{0: 28, 1: 32, 2: 32, 3: 16, 4: 24, 5: 48, 6: 12, 7: 8, 10: 76, 14: 12, 15: 16, 18: 24, 21: 24, 22: 4, 24: 40, 25: 40, 26: 40, 27: 40, 28: 24}
		if end, ok := ends[cmd]; ok {
			clear(attr[end:])
		}
	}
	switch cmd {
	case 0:
		*(*uint32)(unsafe.Pointer(&attr[0])) = uint32(f.rnd.Intn(30))
		*(*uint32)(unsafe.Pointer(&attr[4])) = uint32(f.rnd.Intn(3) * 4)
		*(*uint32)(unsafe.Pointer(&attr[8])) = uint32(f.rnd.Intn(5) * 4)
		*(*uint32)(unsafe.Pointer(&attr[12])) = 1 << f.rnd.Intn(14)
		*(*uint32)(unsafe.Pointer(&attr[16])) = 0
		*(*uint32)(unsafe.Pointer(&attr[24])) = 0
		if f.rnd.Intn(4) > 0 {
			clear(attr[:])
			copy(attr[:], unsafe.Slice((*byte)(unsafe.Pointer(&shapes[f.rnd.Intn(len(shapes))])), 20))
			f.fd(attr[:], 20) // of maps of maps
		}
	case 1, 2, 3, 4, 21:
		f.fd(f.mem[:], 0) // a key, and what it is to stand for
		f.pointers(attr[:], 8, 16)
		*(*uint64)(unsafe.Pointer(&attr[24])) = uint64(f.rnd.Intn(5))
		f.fd(attr[:], 0)
	case 5:
		f.program(attr[:])
	case 6, 7:
		copy(f.mem[:], "/sys/fs/bpf/fuzzed\x00")
		f.pointers(attr[:], 0)
		f.fd(attr[:], 8)
	case 10, 22:
		f.fd(attr[:], 0)
	case 15:
		f.fd(attr[:], 0)
		*(*uint32)(unsafe.Pointer(&attr[4])) = uint32(f.rnd.Intn(300))
		f.pointers(attr[:], 8)
	case 24, 25, 26, 27:
		f.pointers(attr[:], 0, 8, 16, 24)
		*(*uint32)(unsafe.Pointer(&attr[32])) = uint32(f.rnd.Intn(100))
		f.fd(attr[:], 36)
	case 28:
		f.fd(attr[:], 0)
		f.fd(attr[:], 4)
		*(*uint32)(unsafe.Pointer(&attr[8])) = []uint32{41, 42, 48, 9}[f.rnd.Intn(4)]
		clear(attr[12:])
		*(*uint64)(unsafe.Pointer(&attr[16])) = uint64(f.number())
	}
	if f.rnd.Intn(50) == 0 {
		size = f.rnd.Intn(160)
	}
	fd, _, errno := syscall.Syscall(numBPF, uintptr(cmd), uintptr(unsafe.Pointer(attr)), uintptr(size))
	if errno == 0 {
		f.took(int(fd))
	}
	const logEnds = 40 // what has fewer bytes asks for no log
	if cmd == 5 && errno == syscall.EACCES && f.log != nil && size >= logEnds {
		f.refused++
		if f.log[0] == 0 {
			f.silent++
		}
	}
	if f.rnd.Intn(100) == 0 {
		syscall.Unlink("/sys/fs/bpf/fuzzed")
	}
}

// took notes what a call returned: it keeps a descriptor, and closes one now and then.
func (f *fuzzer) took(fd int) {
	f.served++
	if old, ok := f.pool.add(fd, f.rnd); ok {
		syscall.Close(old)
	}
}

// number is a number that may matter.
func (f *fuzzer) number() uint32 {
	switch f.rnd.Intn(4) {
	case 0:
		return f.rnd.Uint32()
	case 1:
		return ^uint32(0) >> f.rnd.Intn(32)
	}
	return uint32(f.rnd.Intn(10))
}

// fd puts a descriptor at an offset, as a rule one of ours.
func (f *fuzzer) fd(attr []byte, off int) {
	v := uint32(f.rnd.Intn(20))
	if fd, ok := f.pool.any(f.rnd); ok && f.rnd.Intn(10) > 0 {
		v = uint32(fd)
	}
	*(*uint32)(unsafe.Pointer(&attr[off])) = v
}

// pointers puts addresses at offsets, as a rule of our memory.
func (f *fuzzer) pointers(attr []byte, offs ...int) {
	for _, off := range offs {
		v := uint64(uintptr(unsafe.Pointer(&f.mem[0])))
		switch f.rnd.Intn(12) {
		case 0:
			v = f.rnd.Uint64()
		case 1:
			v = 0
		case 2:
			v = 0xffffffff84000000
		}
		*(*uint64)(unsafe.Pointer(&attr[off])) = v
	}
}

// program puts a program at f.mem: random instructions, or some that are right before one that is random.
func (f *fuzzer) program(attr []byte) {
	n := 1 + f.rnd.Intn(20)
	insns := f.mem[1024:]
	right := [][8]byte{{0xb7, 0, 0, 0, 1, 0, 0, 0}, {0xbf, 0x16, 0, 0, 0, 0, 0, 0}, {0x79, 0x61, 8, 0, 0, 0, 0, 0}, {0x7b, 0x0a, 0xf8, 0xff, 0, 0, 0, 0}, {0x07, 0, 0, 0, 5, 0, 0, 0}}
	always := f.rnd.Intn(2) == 0 // it is accepted
	if always {
		right = [][8]byte{right[0], right[3], right[4]}
	}
	for i := range n {
		insn := right[f.rnd.Intn(len(right))]
		if !always && f.rnd.Intn(12) == 0 {
			f.rnd.Read(insn[:])
		}
		copy(insns[8*i:], insn[:])
	}
	copy(insns[0:], []byte{0xb7, 0, 0, 0, 1, 0, 0, 0})
	if n > 5 && f.rnd.Intn(3) == 0 { // it continues as another one
		copy(insns, []byte{0x18, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xb7, 3, 0, 0, byte(f.rnd.Intn(20)), 0, 0, 0, 0x85, 0, 0, 0, 12, 0, 0, 0, 0xb7, 0, 0, 0, 1, 0, 0, 0})
		f.fd(insns, 4)
	}
	copy(insns[8*n:], []byte{0x95, 0, 0, 0, 0, 0, 0, 0})
	copy(f.mem[900:], "GPL\x00")
	*(*uint32)(unsafe.Pointer(&attr[0])) = []uint32{1, 2, 5, 7, 17, 26}[f.rnd.Intn(6)]
	*(*uint32)(unsafe.Pointer(&attr[4])) = uint32(n + 1)
	*(*uint64)(unsafe.Pointer(&attr[8])) = uint64(uintptr(unsafe.Pointer(&insns[0])))
	*(*uint64)(unsafe.Pointer(&attr[16])) = uint64(uintptr(unsafe.Pointer(&f.mem[900])))
	clear(attr[24:])
	f.log = nil
	switch f.rnd.Intn(4) {
	case 0:
		*(*uint32)(unsafe.Pointer(&attr[24])) = uint32(f.rnd.Intn(4))
		*(*uint32)(unsafe.Pointer(&attr[28])) = uint32(f.rnd.Intn(512))
		f.pointers(attr, 32)
	case 1, 2:
		f.log = f.mem[8<<10:]
		clear(f.log)
		*(*uint32)(unsafe.Pointer(&attr[24])) = 1
		*(*uint32)(unsafe.Pointer(&attr[28])) = uint32(len(f.log))
		*(*uint64)(unsafe.Pointer(&attr[32])) = uint64(uintptr(unsafe.Pointer(&f.log[0])))
	}
	*(*uint32)(unsafe.Pointer(&attr[68])) = []uint32{0, 0, 42, 48}[f.rnd.Intn(4)]
}
