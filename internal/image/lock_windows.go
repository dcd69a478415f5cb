package image

import (
	"fmt"
	"syscall"
	"time"
)

// inUse is ERROR_SHARING_VIOLATION: somebody else has the file open.
const inUse = syscall.Errno(32)

// lock opens path, which is made if need be, for this process alone, and waits until it can. Windows
// closes it if this process dies.
func lock(path string) (unlock func(), err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	for {
		h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
		switch err {
		case nil:
			return func() { syscall.CloseHandle(h) }, nil
		case inUse:
			time.Sleep(100 * time.Millisecond)
		default:
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}
