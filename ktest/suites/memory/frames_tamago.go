//go:build tamago

package memory

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"unsafe"

	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("memory/frames_are_what_their_address_says", framesAreWhatTheirAddressSays)
	suites.Add("memory/frames_end_before_the_kernel_does", framesEndBeforeTheKernelDoes)
	suites.Add("memory/no_memory_is_lost", noMemoryIsLost)
	suites.Add("memory/pieces_become_one_again", piecesBecomeOne)
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// takeFrames takes n frames, all there are if n is negative. The caller puts them.
func takeFrames(t *suites.T, n int) []frame.Frame {
	all := make([]frame.Frame, 0, mm.Usable/frame.Size)
	for ; n != 0; n-- {
		f, err := frame.Kernel.AllocDirty()
		if n < 0 && errors.Is(err, syscall.ENOMEM) {
			break
		}
		t.Must(err)
		all = append(all, f)
	}
	return all
}

func putFrames(all []frame.Frame) {
	for _, f := range all {
		frame.Kernel.Put(f)
	}
}

// framesAreWhatTheirAddressSays: the kernel's address of a frame translates to the
// frame, which is in the heap's window, and no one else's.
func framesAreWhatTheirAddressSays(t *suites.T) {
	before := frame.Kernel.Stats()
	all := takeFrames(t, 3*frame.BlockSize/frame.Size)
	defer putFrames(all)
	seen := map[frame.Frame]bool{}
	for _, f := range all {
		va := addressOf(frame.Kernel.Bytes(f))
		pa, _, ok := mm.Tables.Lookup(uint64(va))
		if !ok || pa != uint64(f) || !mm.Heap.Contains(va) || seen[f] {
			t.Fatalf("frame %#x is at %#x, which is %#x (mapped: %v; given out before: %v)", f, va, pa, ok, seen[f])
		}
		seen[f] = true
		frame.Kernel.Words(f)[511] = uint64(f)
	}
	fill(16, megabyte, func(i int, p []uint64) { p[0] = 1 })
	for _, f := range all {
		if got := frame.Kernel.Words(f)[511]; got != uint64(f) {
			t.Fatalf("frame %#x holds %#x", f, got)
		}
	}
	if now := frame.Kernel.Stats(); now.Used != before.Used+len(all) {
		t.Errorf("%+v, then %+v", before, now)
	}
}

// framesEndBeforeTheKernelDoes: when programs have all they can get there is still
// memory for the kernel's heap; and all of it comes back.
func framesEndBeforeTheKernelDoes(t *suites.T) {
	before := frame.Kernel.Stats()
	all := takeFrames(t, -1)
	_, free := mm.Memory()
	if free < mm.Usable/8 || free > mm.Usable/8+2*frame.BlockSize {
		t.Errorf("%d MiB are left, want %d", free>>20, mm.Usable/8>>20)
	}
	if n := uint64(len(all)) * frame.Size; n < mm.Usable/4 {
		t.Errorf("only %d of %d MiB were to be had", n>>20, mm.Usable>>20)
	}
	fill(int(mm.Usable/16/megabyte), megabyte, func(int, []uint64) {})
	putFrames(all)
	if now := frame.Kernel.Stats(); now.Used != before.Used || now.Blocks > before.Blocks+1 {
		t.Errorf("%+v, then %+v", before, now)
	}
}

// noMemoryIsLost: blocks come back in any order, and are as good as before.
func noMemoryIsLost(t *suites.T) {
	why := ""
	for range 3 { // the heap may take a piece meanwhile, but not each time
		if why = lostMemory(t); why == "" {
			return
		}
	}
	t.Errorf("%s", why)
}

// lostMemory takes all frames, gives them back, and says how much does not come back.
func lostMemory(t *suites.T) string {
	putFrames(takeFrames(t, -1)) // so that the heap has what it needs for all of them
	runtime.GC()
	_, before := mm.Memory()
	all := takeFrames(t, -1)
	blocks := frame.Kernel.Stats().Blocks
	const perBlock = frame.BlockSize / frame.Size
	for odd := range 2 { // first every other block: none comes back beside another
		for i, f := range all {
			if i/perBlock%2 == odd {
				frame.Kernel.Put(f)
			}
		}
	}
	now := frame.Kernel.Stats()
	if _, free := mm.Memory(); free+uint64(now.Blocks)*frame.BlockSize < before {
		return fmt.Sprintf("%d KiB of %d blocks are lost: %d KiB were free, %d are, and %d blocks", (before-free)>>10, blocks, before>>10, free>>10, now.Blocks)
	}
	return ""
}

// piecesBecomeOne: the window notes any number of pieces between what is taken. It had room
// for 64, and what came back beyond these was lost.
func piecesBecomeOne(t *suites.T) {
	const size, n = 16 << 10, 2000
	_, before := mm.Memory()
	all := make([]uintptr, n)
	for i := range all {
		if all[i] = goruntime.TakeBlock(size, 0); all[i] == 0 {
			t.Fatalf("no piece %d", i)
		}
		*(*uintptr)(unsafe.Pointer(at(all[i]))) = all[i]
	}
	rand.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	least := before - size*n/8 // the runtime may take some meanwhile
	for i, addr := range all {
		if got := *(*uintptr)(unsafe.Pointer(at(addr))); got != addr {
			t.Fatalf("the piece at %#x was written: %#x", addr, got)
		}
		goruntime.GiveBlock(addr, size)
		if _, free := mm.Memory(); free < least-uint64(n-1-i)*size {
			t.Fatalf("%d of %d have come back: %d KiB were free, %d are", i+1, n, before>>10, free>>10)
		}
	}
	if addr := goruntime.TakeBlock(size*1024, 0); addr != 0 {
		goruntime.GiveBlock(addr, size*1024)
	} else {
		t.Errorf("%d MiB are free, but not in one piece", before>>20)
	}
}
