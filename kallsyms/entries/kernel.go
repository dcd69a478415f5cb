package entries

import (
	"sync"
	"unsafe"
)

// image is where the build leaves address and size of the table it carries
// along, if the kernel links this package. Not zero, so that it is in the file.
var image = [2]uint64{1, 0}

// Kernel returns the table of the running image.
//
// Errors:  ErrFormat: the build has left none. Then no place is known to
// be safe, and no probe should be optimized.
var Kernel = sync.OnceValues(func() (*Table, error) {
	if image[1] == 0 {
		return Load(nil)
	}
	// Safe because: the build put the table there and boot mapped it read-only.
	return Load(unsafe.Slice(*(**byte)(unsafe.Pointer(&image[0])), image[1]))
})
