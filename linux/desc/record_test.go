package desc

import (
	"syscall"
	"testing"

	"sonde/kernel/vfs"
)

// TestRecordsGoWithAnyDescriptor: closing any descriptor of a file, in whatever way, ends all locks
// that the table has on it; closing one of a clone ends none.
func TestRecordsGoWithAnyDescriptor(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(own, clone *Table)
		stays bool
	}{
		"the descriptor":           {func(own, _ *Table) { own.Close(0) }, false},
		"another opening":          {func(own, _ *Table) { own.Close(2) }, false},
		"its copy":                 {func(own, _ *Table) { own.Close(3) }, false},
		"dup2 onto it":             {func(own, _ *Table) { own.DupTo(1, 2, false, limit) }, false},
		"exec":                     {func(own, _ *Table) { own.SetCloseOnExec(2, true); own.Exec() }, false},
		"the end":                  {func(own, _ *Table) { own.Leave() }, false},
		"another file":             {func(own, _ *Table) { own.Close(1) }, true},
		"exec that closes nothing": {func(own, _ *Table) { own.Exec() }, true},
		"the clone's end":          {func(_, clone *Table) { clone.Leave() }, true},
		"a sharer's end":           {func(own, _ *Table) { own.Share(); own.Leave() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			tree, own := vfs.New(), new(Table)
			for _, path := range []string{"/x", "/y", "/x"} {
				f, err := tree.OpenFile(path, vfs.O_CREAT|vfs.O_RDWR)
				if err != nil {
					t.Fatal(err)
				}
				own.Install(f, false, 0, limit)
			}
			own.Dup(0, false, 0, limit)
			clone := own.Clone()
			defer clone.Leave()
			defer own.Leave()
			f, _ := own.Get(0)
			r := vfs.Record{Last: 9, Exclusive: true}
			if err := own.LockRecord(0, f, r, f.LockRecord); err != nil {
				t.Fatal(err)
			}
			c.end(own, clone)
			r.Owner = clone
			if _, there := f.Conflict(r); there != c.stays {
				t.Errorf("the lock is there: %v, want %v", there, c.stays)
			}
			f.DropRecords(own)
		})
	}
}

// TestDescriptorClosedWhileALockIsMade: no lock may remain that no Close would end.
func TestDescriptorClosedWhileALockIsMade(t *testing.T) {
	tree, own := vfs.New(), new(Table)
	f, err := tree.OpenFile("/x", vfs.O_CREAT|vfs.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	other, err := tree.OpenFile("/x", vfs.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	fd, _ := own.Install(f, false, 0, limit)
	r := vfs.Record{Last: 9, Exclusive: true}
	err = own.LockRecord(fd, f, r, func(r vfs.Record) error {
		own.Close(fd)
		return other.LockRecord(r)
	})
	if err != syscall.EBADF {
		t.Errorf("got %v", err)
	}
	if r, there := other.Conflict(vfs.Record{Last: 9}); there {
		t.Errorf("left: %v", r)
	}
}
