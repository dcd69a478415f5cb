package vfs

import "io/fs"

// symlink is a symbolic link in memory.
type symlink struct {
	inode
	target string
}

func newSymlink(target string) *symlink {
	s := &symlink{target: target}
	s.start(fs.ModeSymlink | 0777)
	return s
}

// Stat implements Node.
func (s *symlink) Stat() Info {
	i := s.info()
	i.Size = int64(len(s.target))
	return i
}

// Target implements Link.
func (s *symlink) Target() (string, error) { return s.target, nil }
