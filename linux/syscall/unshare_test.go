package syscall

import (
	"sync"
	"testing"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/pipe"
)

// TestThreadsUnshareOnce: if several threads of a process ask for a table of descriptors of its
// own at the same time, the process leaves the shared one once. The others keep their files.
func TestThreadsUnshareOnce(t *testing.T) {
	const files = 3000 // so that copying the table takes some time
	for range 300 {
		r, w := pipe.New(0)
		other, err := NewFiles(vfs.Root.RootPlace(), r, w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Descriptors().Dup(0, false, files, files+1); err != nil {
			t.Fatal(err)
		}
		own := other.Clone(abi.CLONE_FILES).(*Files)
		var wg sync.WaitGroup
		begin := make(chan bool)
		for range 8 {
			wg.Go(func() {
				<-begin
				own.unshare()
			})
		}
		close(begin)
		wg.Wait()
		if _, err := other.Descriptors().Get(0); err != nil || r.Uses() != 4 {
			t.Fatalf("the other process: %v; the file has %d uses", err, r.Uses())
		}
		own.Close()
		other.Close()
	}
}
