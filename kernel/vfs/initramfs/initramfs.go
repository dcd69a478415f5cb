// Package initramfs unpacks archives into a tree of names.
//
// Contents are not copied: a file's bytes stay in the archive until they are written to or mapped,
// so the archive must never change.
package initramfs

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/cpio"
)

// Result says what was unpacked.
type Result struct {
	Files, Bytes int
	Skipped      []string // files of kinds that the kernel does not have: devices, pipes
}

// maxUnpacked is how large a compressed archive may become: a small one can hold gigabytes of
// zeroes.
const maxUnpacked = 1 << 30

// Unpack puts the contents of data under the tree's root. data is one archive or several, each
// plain or compressed by gzip, with zero bytes between them. Each numbers its files by itself. An
// existing file is replaced, but a directory stays. Nothing is changed if data is corrupt.
//
// Errors: cpio.ErrFormat, those of gzip, and those of the tree (wrapped).
func Unpack(tree *vfs.FS, data []byte) (Result, error) {
	all, err := read(data, readOne)
	if err != nil {
		return Result{}, fmt.Errorf("initramfs: %w", err)
	}
	u := unpacker{tree: tree, root: tree.RootPlace(), linked: map[inode]string{}}
	for _, list := range all {
		clear(u.linked)
		for i := range list {
			if err := u.add(&list[i]); err != nil {
				return u.Result, fmt.Errorf("initramfs: %s: %w", list[i].Name, err)
			}
		}
	}
	for _, d := range u.dirs { // last, as making files in them changes their times
		u.attributes(d)
	}
	return u.Result, nil
}

// reader reads what is at the start of data, and returns the entries of each archive and the data after it.
type reader func(data []byte) (all [][]cpio.Entry, rest []byte, err error)

// read returns the entries of each archive in data.
func read(data []byte, one reader) (all [][]cpio.Entry, err error) {
	for {
		if data = bytes.TrimLeft(data, "\x00"); len(data) == 0 {
			return all, nil
		}
		var more [][]cpio.Entry
		if more, data, err = one(data); err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
}

// readPlain reads one archive that is not compressed.
func readPlain(data []byte) (all [][]cpio.Entry, rest []byte, err error) {
	list, n, err := cpio.Read(data)
	if err != nil {
		return nil, nil, err
	}
	return [][]cpio.Entry{list}, data[n:], nil
}

// readOne reads one archive, or what is compressed: as in Linux, archives that are not compressed themselves.
func readOne(data []byte) (all [][]cpio.Entry, rest []byte, err error) {
	if len(data) < 2 || data[0] != 0x1f || data[1] != 0x8b {
		return readPlain(data)
	}
	src := bytes.NewReader(data)
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, nil, err
	}
	z.Multistream(false)
	plain, err := inflate(z, data)
	switch {
	case err != nil:
		return nil, nil, err
	case len(plain) > maxUnpacked:
		return nil, nil, refusal.New(syscall.EFBIG, "unpacked, it has more than %d bytes", maxUnpacked)
	}
	all, err = read(plain, readPlain)
	return all, data[len(data)-src.Len():], err
}

// inflate reads all of z, which decompresses data. gzip data ends with the size if nothing follows
// it; using that, the buffer is allocated once, while growing it takes more than twice the memory.
// The size is a hint only: it may be wrong, and far larger than the memory.
func inflate(z io.Reader, data []byte) ([]byte, error) {
	const ratio = 4 // expected ratio of compression
	hint := 0
	if n := len(data); n >= 4 {
		hint = int(min(binary.LittleEndian.Uint32(data[n-4:]), uint32(min(ratio*n, maxUnpacked))))
	}
	plain := bytes.NewBuffer(make([]byte, 0, hint+bytes.MinRead))
	_, err := plain.ReadFrom(io.LimitReader(z, maxUnpacked+1))
	return plain.Bytes(), err
}

// inode is a file of an archive, which may have several names.
type inode struct {
	ino    uint32
	device [2]uint32
}

// unpacker fills a tree.
type unpacker struct {
	Result
	tree   *vfs.FS
	root   *vfs.Place
	linked map[inode]string // the first name of a file with several, of this archive
	dirs   []*cpio.Entry
}

func (u *unpacker) add(e *cpio.Entry) error {
	e.Name = path.Clean("/" + e.Name)
	if e.Name == "/" {
		return nil
	}
	if err := u.parents(path.Dir(e.Name)); err != nil {
		return err
	}
	switch e.Type() {
	case cpio.Dir:
		return u.dir(e)
	case cpio.Symlink:
		if err := u.free(e.Name); err != nil {
			return err
		}
		u.Files++
		return u.tree.SymlinkAt(string(e.Data), u.root, e.Name)
	case cpio.Regular:
		return u.regular(e)
	}
	u.Skipped = append(u.Skipped, e.Name)
	return nil
}

// parents makes the directories that an archive omits.
func (u *unpacker) parents(dir string) error {
	if _, err := u.tree.StatAt(u.root, dir, true); err == nil {
		return nil
	}
	if err := u.parents(path.Dir(dir)); err != nil {
		return err
	}
	return u.tree.MkdirAt(u.root, dir, 0755)
}

// dir makes a directory. An existing one is kept, with its contents.
func (u *unpacker) dir(e *cpio.Entry) error {
	if i, err := u.tree.StatAt(u.root, e.Name, true); err == nil && i.Mode.IsDir() {
		return nil
	}
	if err := u.free(e.Name); err != nil {
		return err
	}
	u.Files++
	u.dirs = append(u.dirs, e)
	return u.tree.MkdirAt(u.root, e.Name, vfs.Perm(e.Mode))
}

// free removes an existing file of that name.
func (u *unpacker) free(name string) error {
	err := u.tree.UnlinkAt(u.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// regular makes a file. If it has several names, its contents may come with any of them.
func (u *unpacker) regular(e *cpio.Entry) error {
	id := inode{e.Ino, e.Device}
	first := u.linked[id]
	if e.Links < 2 {
		first = ""
	}
	if first != "" && len(e.Data) == 0 {
		if err := u.free(e.Name); err != nil {
			return err
		}
		u.Files++
		return u.tree.LinkAt(u.root, first, u.root, e.Name, false)
	}
	if err := u.contents(e, first); err != nil {
		return err
	}
	if e.Links > 1 {
		u.linked[id] = e.Name
	}
	u.Files++
	u.Bytes += len(e.Data)
	u.attributes(e)
	return nil
}

// contents makes the file of e, or fills the one under the first name.
func (u *unpacker) contents(e *cpio.Entry, first string) error {
	if err := u.free(e.Name); err != nil {
		return err
	}
	if first == "" {
		return u.tree.ProvideAt(u.root, e.Name, vfs.Perm(e.Mode), e.Data)
	}
	if err := u.tree.LinkAt(u.root, first, u.root, e.Name, false); err != nil {
		return err
	}
	return u.tree.Refill(u.root, e.Name, e.Data)
}

// attributes sets owner and times from the archive.
func (u *unpacker) attributes(e *cpio.Entry) {
	then := time.Unix(int64(e.Time), 0)
	u.tree.ChangeAt("unpack", u.root, e.Name, false, func(c vfs.Changer) {
		if e.UID|e.GID != 0 {
			c.SetOwner(e.UID, e.GID)
		}
		c.SetTimes(then, then)
	})
}

// Describe says in a line for the log what was unpacked.
func (r Result) Describe() string {
	text := fmt.Sprintf("%d files, %d KiB", r.Files, (r.Bytes+1023)>>10)
	if len(r.Skipped) > 0 {
		text += "; skipped: " + strings.Join(r.Skipped, " ")
	}
	return text
}
