package initrd

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"sonde/kernel/vfs/cpio"
)

// cachePath is where the dynamic linker looks up libraries by their names, and tools that want to probe one.
const cachePath = "/etc/ld.so.cache"

// addCache adds the cache of all libraries in the archive, as ldconfig would write it. Of two with the same
// name, that in the folder where the linker looks first is in it.
func (a *Archive) addCache() {
	var libs []library
	for guest, e := range a.files {
		if dir, name := path.Split(guest); slices.Contains(libraryFolders, path.Clean(dir)) && strings.Contains(name, ".so") {
			if soname := sonameOf(e.Data); soname != "" {
				libs = append(libs, library{soname, guest, slices.Index(libraryFolders, path.Clean(dir))})
			}
		}
	}
	if len(libs) > 0 && !a.has(cachePath) {
		a.put(cachePath, cpio.Entry{Mode: cpio.Regular | 0o644, Data: cacheOf(libs)})
	}
}

// A library is known by a name.
type library struct {
	name, path string
	folder     int // index of libraryFolders
}

// sonameOf is the name by which programs ask for a library; "": it is none of this processor's.
func sonameOf(data []byte) string {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil || f.Class != elf.ELFCLASS64 || f.Machine != elf.EM_X86_64 {
		return ""
	}
	names, _ := f.DynString(elf.DT_SONAME)
	return strings.Join(names, "")
}

// cacheOf writes a cache: a head, an entry for each library, and their names, each with a zero after it.
//
// Source: glibc, sysdeps/generic/dl-cache.h, struct cache_file_new and file_entry_new.
func cacheOf(libs []library) []byte {
	const head, entry = 48, 24
	const libc6x86 = 0x303 // flags: for glibc 2, of 64 bits
	slices.SortFunc(libs, func(a, b library) int {
		return cmp.Or(compareNames(b.name, a.name), cmp.Compare(a.folder, b.folder))
	})
	libs = slices.CompactFunc(libs, func(a, b library) bool { return a.name == b.name })
	var entries, names []byte
	text := func(s string) uint32 {
		at := head + len(libs)*entry + len(names)
		names = append(append(names, s...), 0)
		return uint32(at)
	}
	le := binary.LittleEndian
	for _, l := range libs {
		for _, v := range [...]uint32{libc6x86, text(l.name), text(l.path), 0, 0, 0} {
			entries = le.AppendUint32(entries, v)
		}
	}
	b := []byte("glibc-ld.so.cache1.1")
	for _, v := range [...]uint32{uint32(len(libs)), uint32(len(names)), 2 /* little endian */, 0, 0, 0, 0} {
		b = le.AppendUint32(b, v)
	}
	return slices.Concat(b, entries, names)
}

// compareNames is the order in which the linker searches: numbers in names count as numbers, and come after
// everything else.
func compareNames(a, b string) int {
	for a != "" && b != "" {
		na, restA := number(a)
		nb, restB := number(b)
		switch {
		case na < 0 && nb < 0:
			if a[0] != b[0] {
				return int(a[0]) - int(b[0])
			}
		case na != nb:
			return na - nb
		}
		a, b = restA, restB
	}
	return len(a) - len(b)
}

// number splits the number off that s begins with; one character, and -1, if that is none.
func number(s string) (n int, rest string) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits == 0 {
		return -1, s[1:]
	}
	for _, c := range s[:digits] {
		n = n*10 + int(c-'0')
	}
	return n, s[digits:]
}
