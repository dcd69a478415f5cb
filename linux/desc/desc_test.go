package desc

import (
	"slices"
	"sync"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
)

const limit = 16

// closer is a file that reports when it is closed.
type closer struct {
	vfs.Stream
	closed int
}

func (c *closer) Stat() vfs.Info                     { return vfs.Info{} }
func (c *closer) ReadAt([]byte, int64) (int, error)  { return 0, nil }
func (c *closer) WriteAt([]byte, int64) (int, error) { return 0, nil }
func (c *closer) Close() error                       { c.closed++; return nil }

func open(t *testing.T, table *Table, closeOnExec bool) (*closer, int) {
	t.Helper()
	c := new(closer)
	fd, err := table.Install(vfs.NewFile("x", c, c, 0), closeOnExec, 0, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c, fd
}

func TestLowestFreeNumberIsTaken(t *testing.T) {
	var table Table
	for want := range 4 {
		if _, fd := open(t, &table, false); fd != want {
			t.Errorf("got %d, want %d", fd, want)
		}
	}
	table.Close(1)
	table.Close(2)
	if _, fd := open(t, &table, false); fd != 1 {
		t.Errorf("got %d, want 1", fd)
	}
	if fd, err := table.Dup(0, true, 10, limit); fd != 10 || err != nil {
		t.Errorf("dup: %d, %v", fd, err)
	}
	if on, _ := table.CloseOnExec(10); !on {
		t.Error("dup lost the flag")
	}
	if got := table.Open(); !slices.Equal(got, []int{0, 1, 3, 10}) {
		t.Errorf("open: %v", got)
	}
}

func TestNumbersEndAtTheLimit(t *testing.T) {
	var table Table
	for range limit {
		open(t, &table, false)
	}
	c := new(closer)
	f := vfs.NewFile("x", c, c, 0)
	if _, err := table.Install(f, false, 0, limit); err != syscall.EMFILE || c.closed != 0 {
		t.Errorf("%v, closed %d times", err, c.closed)
	}
	for min, want := range map[int]error{-1: syscall.EINVAL, limit: syscall.EINVAL, 3: syscall.EMFILE} {
		if _, err := table.Dup(0, false, min, limit); err != want {
			t.Errorf("dup from %d on: %v, want %v", min, err, want)
		}
	}
	if _, err := new(Table).Install(f, false, 0, 0); err != syscall.EMFILE {
		t.Errorf("with a limit of 0: %v", err)
	}
}

func TestFileClosesWithItsLastDescriptor(t *testing.T) {
	var table Table
	c, fd := open(t, &table, false)
	d, err := table.Dup(fd, false, 0, limit)
	if err != nil {
		t.Fatal(err)
	}
	child := table.Clone()
	table.Close(fd)
	table.Close(d)
	if c.closed != 0 {
		t.Error("closed, but the clone has it")
	}
	child.Leave()
	if c.closed != 1 {
		t.Errorf("closed %d times", c.closed)
	}
	if _, err := child.Get(fd); err != syscall.EBADF {
		t.Error(err)
	}
}

func TestDupToReplaces(t *testing.T) {
	var table Table
	a, from := open(t, &table, true)
	b, to := open(t, &table, true)
	if err := table.DupTo(from, from, false, limit); err != nil {
		t.Error(err)
	}
	if on, _ := table.CloseOnExec(from); !on {
		t.Error("the same number twice changed the flag")
	}
	if err := table.DupTo(from, to, false, limit); err != nil || a.closed != 0 || b.closed != 1 {
		t.Errorf("%v, closed %d and %d times", err, a.closed, b.closed)
	}
	if on, _ := table.CloseOnExec(to); on {
		t.Error("the copy has the flag")
	}
	if err := table.DupTo(from, 9, false, limit); err != nil {
		t.Error(err)
	}
	table.Close(from)
	table.Close(9)
	if a.closed != 0 {
		t.Error("closed, but a copy is left")
	}
	if table.Close(to); a.closed != 1 {
		t.Errorf("closed %d times with the last copy", a.closed)
	}
	for _, c := range [][2]int{{5, 1}, {-1, 1}, {0, 1}, {0, -1}, {0, limit}} {
		if err := table.DupTo(c[0], c[1], false, limit); err != syscall.EBADF {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestExecClosesWhatHasTheFlag(t *testing.T) {
	var table Table
	a, _ := open(t, &table, true)
	b, kept := open(t, &table, false)
	c, changed := open(t, &table, false)
	if err := table.SetCloseOnExec(changed, true); err != nil {
		t.Fatal(err)
	}
	table.Exec()
	if a.closed != 1 || b.closed != 0 || c.closed != 1 || !slices.Equal(table.Open(), []int{kept}) {
		t.Errorf("closed %d %d %d, open %v", a.closed, b.closed, c.closed, table.Open())
	}
}

func TestSharedTableEndsWithItsLastUser(t *testing.T) {
	var table Table
	c, _ := open(t, &table, false)
	other := table.Share()
	if table.Alone() {
		t.Error("two users are not alone")
	}
	table.Leave()
	if c.closed != 0 || !other.Alone() {
		t.Errorf("closed %d times after the first has left", c.closed)
	}
	other.Leave()
	if c.closed != 1 {
		t.Errorf("closed %d times after the last has left", c.closed)
	}
}

func TestManyThreadsUseOneTable(t *testing.T) {
	var table Table
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 300 {
				c := new(closer)
				fd, err := table.Install(vfs.NewFile("x", c, c, 0), false, 0, 100)
				if err != nil {
					t.Error(err)
					return
				}
				table.Clone().Leave()
				if err := table.Close(fd); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if len(table.Open()) != 0 {
		t.Error(table.Open())
	}
}
