package shell

import (
	"os"
	"strings"
	"testing"

	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/space"
	"sonde/linux/syscall"
)

// TestNamesOfWhatIsEnding: an instruction of a program has its name when its memory is gone, too, and nobody has been
// told yet that the program has ended.
func TestNamesOfWhatIsEnding(t *testing.T) {
	const path, base = "/ending", 0x400000
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	own, err := os.Executable()
	must(err)
	code, err := os.ReadFile(own)
	must(err)
	must(vfs.WriteFile(path, code))
	defer vfs.Remove(path)
	file, err := vfs.Open(path, vfs.O_RDONLY)
	must(err)
	defer vfs.Close(file)
	backing, err := file.Backing()
	must(err)

	w := proctest.NewWorld(64<<20, syscall.Handle)
	const nPause = 34
	img, err := w.Image("ending", func(p *proctest.Player) { p.Call(nPause) })
	must(err)
	_, err = img.Space.Map(base, 2*space.PageSize, space.Read|space.Exec, space.Fixed, backing, 0)
	must(err)
	p, err := w.Table.Start(proc.Spec{Image: img})
	must(err)

	names := writersOf(p)
	defer names.close()
	const ip = base + space.PageSize + 0x10
	if name := names.name(ip); !strings.Contains(name, "+0x") {
		t.Fatalf("the instruction before %#x is %q", uint64(ip), name)
	}
	p.Memory().Release()
	if name := names.name(ip); !strings.Contains(name, "+0x") {
		t.Errorf("without its memory, the instruction before %#x is %q", uint64(ip), name)
	}
}
