// Package device makes the devices in /dev that every program expects.
package device

import (
	"encoding/binary"
	"io"
	"io/fs"
	"math/rand/v2"
	"syscall"

	"sonde/kernel/vfs"
)

// Device is a character device: a node to bind to a name.
type Device struct {
	Major, Minor uint32
	OpenFunc     func(flag int) (vfs.Handle, error)
}

// Stat implements vfs.Node.
func (d *Device) Stat() vfs.Info {
	return vfs.Info{Mode: fs.ModeDevice | fs.ModeCharDevice | 0666, RDev: vfs.MakeDev(d.Major, d.Minor)}
}

// Open implements vfs.Opener.
func (d *Device) Open(flag int) (vfs.Handle, error) { return d.OpenFunc(flag) }

// memory is the major number of the devices here.
//
// Source: Linux, Documentation/admin-guide/devices.txt.
const memory = 1

// Mount makes /dev with null, zero, full, random, urandom, the links to a process's own
// descriptors, and shm for shared files.
//
// Errors: EEXIST (wrapped with the path).
func Mount(tree *vfs.FS) error {
	if err := tree.MkdirAll("/dev/shm", 0755); err != nil {
		return err
	}
	err := tree.BindAll("/dev", map[string]vfs.Node{
		"null":    character(3, nothing{}),
		"zero":    character(5, zeroes{}),
		"full":    character(7, full{}),
		"random":  character(8, random{}),
		"urandom": character(9, random{}),
	})
	if err != nil {
		return err
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := tree.SymlinkAt(target, tree.RootPlace(), "/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

func character(minor uint32, h vfs.Handle) *Device {
	return &Device{memory, minor, func(int) (vfs.Handle, error) { return h, nil }}
}

// nothing is /dev/null: reading it is at the end at once, and writing discards the data.
type nothing struct{ vfs.Placeless }

func (nothing) ReadAt([]byte, int64) (int, error)      { return 0, io.EOF }
func (nothing) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (nothing) Close() error                           { return nil }

// zeroes is /dev/zero. It implements vfs.Zeroes.
type zeroes struct{ nothing }

func (zeroes) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

func (zeroes) MapsZeroes() {}

// full is /dev/full, which behaves as a full disk.
type full struct{ nothing }

func (full) ReadAt(p []byte, off int64) (int, error) { return zeroes{}.ReadAt(p, off) }

func (full) WriteAt([]byte, int64) (int, error) { return 0, syscall.ENOSPC }

// random is /dev/random and /dev/urandom: neither ever waits.
type random struct{ nothing }

func (random) ReadAt(p []byte, _ int64) (int, error) {
	Random(p)
	return len(p), nil
}

// Entropy is the number of random bits that there are to seed others with: always all of them.
func (random) Entropy() int { return Entropy }

// Entropy is the bits of a ChaCha8 key, as in Linux.
const Entropy = 256

// Random fills p from the Go runtime's generator, which is ChaCha8, seeded by the machine.
//
// Rejected: crypto/rand. It uses the same seed, and its packages need much initialization at boot.
func Random(p []byte) {
	var word [8]byte
	for len(p) > 0 {
		binary.LittleEndian.PutUint64(word[:], rand.Uint64())
		p = p[copy(p, word[:]):]
	}
}
