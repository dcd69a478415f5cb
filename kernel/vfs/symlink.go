package vfs

import "io/fs"

// symlink is a symbolic link in memory. It implements Node and Link.
type symlink struct {
	inode
	target string
}

func newSymlink(target string) *symlink {
	s := &symlink{target: target}
	s.start(fs.ModeSymlink | 0777)
	return s
}

func (s *symlink) Stat() Info {
	i := s.info()
	i.Size = int64(len(s.target))
	return i
}

func (s *symlink) Target() (string, error) { return s.target, nil }
