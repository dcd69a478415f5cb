package source

import (
	"strings"

	"sonde/kernel/vfs"
)

// libraries are where programs look for them.
var libraries = []string{"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"}

// file returns the path of a program in /bin or of a library, by its name: libc is libc.so.6. What is found
// nowhere stays as it is; attaching says so.
func file(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	if _, err := vfs.Stat("/bin/" + name); err == nil {
		return name
	}
	for _, dir := range libraries {
		entries, _ := vfs.ReadDir(dir) // there may be none
		for _, e := range entries {
			if base, _, library := strings.Cut(e.Name(), ".so"); e.Name() == name || library && base == name {
				return dir + "/" + e.Name()
			}
		}
	}
	return name
}
