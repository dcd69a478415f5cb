package procfs

import (
	"fmt"
	"io"
	"strings"

	"sonde/kernel/vfs"
)

// options are those of a mount, and those of its file system.
func options(tree *vfs.FS, m vfs.Mount) (mount, super string) {
	if limit, _ := tree.Usage(); m.HasRoom() {
		return "rw,relatime", fmt.Sprintf("rw,size=%dk", limit*pageKB)
	}
	return "rw,relatime", "rw"
}

const pageKB = 4

// Mounts prints /proc/PID/mounts.
//
// Source: Linux, proc(5), and fstab(5) for the fields.
func Mounts(w io.Writer, tree *vfs.FS) {
	for _, m := range vfs.Mounts() {
		mount, super := options(tree, m)
		fmt.Fprintf(w, "%s %s %s %s%s 0 0\n", m.Source, m.Dir, m.Type, mount, strings.TrimPrefix(super, "rw"))
	}
}

// MountInfo prints /proc/PID/mountinfo. The devices are those that stat shows.
//
// Source: Linux, proc(5).
func MountInfo(w io.Writer, tree *vfs.FS) {
	for _, m := range vfs.Mounts() {
		own, above := m.Index()
		mount, super := options(tree, m)
		fmt.Fprintf(w, "%d %d 0:%d / %s %s - %s %s %s\n", own+1, above+1, m.Device(), m.Dir, mount, m.Type, m.Source, super)
	}
}

// filesystems prints /proc/filesystems. None needs a disk.
func filesystems(w io.Writer) {
	last := ""
	for _, m := range vfs.Mounts() {
		if m.Type != last { // one that is mounted twice stands there twice in a row
			fmt.Fprintf(w, "nodev\t%s\n", m.Type)
		}
		last = m.Type
	}
}
