package event

import (
	"errors"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// headers are what scripts include for the values of fields, below the folder of the kernel's release. Tools
// include kconfig.h by themselves wherever there is such a folder: nothing is configured here.
var headers = map[string]string{
	"linux/kconfig.h": "",
	"linux/sched.h":   "/* Values of sched:sched_switch's prev_state. */\n#define TASK_RUNNING 0\n#define TASK_INTERRUPTIBLE 1\n",
}

// MountHeaders makes the headers where tools look for them.
//
// Errors: those of vfs.FS.Bind.
func MountHeaders(tree *vfs.FS, release string) (err error) {
	for name, text := range headers {
		err = errors.Join(err, tree.Bind("/lib/modules/"+release+"/build/include/"+name, ctl.File{
			Read: func() ([]byte, error) { return []byte(text), nil },
			Size: func() int64 { return int64(len(text)) },
		}))
	}
	return err
}
