//go:build tamago

package memory

import (
	"errors"
	"syscall"
	"unsafe"

	"sonde/kernel/goruntime"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
	"sonde/qemu/suites"
)

func init() {
	suites.Add("memory/frames_are_what_their_address_says", framesAreWhatTheirAddressSays)
	suites.Add("memory/frames_end_before_the_kernel_does", framesEndBeforeTheKernelDoes)
	suites.Add("memory/blocks_are_one_piece_again", blocksAreOnePieceAgain)
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// takeFrames takes n frames, all there are if n is negative. The caller puts them.
func takeFrames(t *suites.T, n int) (all []frame.Frame) {
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
// frame, which is in the heap's window, and nobody else's.
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

// blocksAreOnePieceAgain: what comes back in any order can be taken as one.
func blocksAreOnePieceAgain(t *suites.T) {
	const size, n = frame.BlockSize, 64
	_, before := mm.Memory()
	var blocks []uintptr
	for range n {
		b := goruntime.TakeBlock(size, 0)
		if b == 0 || b%size != 0 {
			t.Fatalf("a block at %#x", b)
		}
		blocks = append(blocks, b)
	}
	for i := range n {
		goruntime.GiveBlock(blocks[i*37%n], size)
	}
	if _, free := mm.Memory(); free < before {
		t.Errorf("%d bytes are lost", before-free)
	}
	all := goruntime.TakeBlock(n*size/2, 0)
	if all == 0 {
		t.Fatalf("the blocks are not one piece")
	}
	goruntime.GiveBlock(all, n*size/2)
	if keep := goruntime.TakeBlock(size, uintptr(before)); keep != 0 {
		t.Errorf("a block was given though more had to be left")
	}
}
