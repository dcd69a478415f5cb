package syscall

import (
	"cmp"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/sock"
)

// Control messages: descriptors and credentials that go with a message.
//
// Source: man cmsg(3), unix(7).

// mostControl bounds the control messages of one call, in bytes.
const mostControl = 20 << 10

// control decodes the control messages of a message.
//
// Errors: EINVAL, EBADF, EFAULT, ENOBUFS, EPERM.
func (c *sending) control(h *abi.Msghdr) error {
	if h.Control == 0 || h.Controllen == 0 {
		return nil
	}
	if h.Controllen > mostControl {
		return sys.ENOBUFS
	}
	raw := make([]byte, h.Controllen)
	if err := c.t.Memory().In(raw, h.Control); err != nil {
		return err
	}
	for len(raw) >= abi.CmsghdrLen {
		var head abi.Cmsghdr
		copy(abi.Bytes(&head), raw)
		if head.Len < abi.CmsghdrLen || head.Len > uint64(len(raw)) {
			return sys.EINVAL
		}
		if head.Level == abi.SOL_SOCKET {
			if err := c.beside(head.Type, raw[abi.CmsghdrLen:head.Len]); err != nil {
				return err
			}
		}
		raw = raw[min((head.Len+7)&^7, uint64(len(raw))):]
	}
	return nil
}

// beside decodes one control message.
func (c *sending) beside(kind int32, data []byte) error {
	switch kind {
	case abi.SCM_RIGHTS:
		return c.attach(data)
	case abi.SCM_CREDENTIALS:
		if len(data) != len(abi.Bytes(&c.cred)) {
			return sys.EINVAL
		}
		var cred sock.Cred
		copy(abi.Bytes(&cred), data)
		if _, err := c.t.Process().Table().Find(int(cred.PID)); err != nil {
			return sys.ESRCH
		}
		c.cred = cred
		return nil
	}
	return sys.EINVAL
}

// attach holds the files of the descriptors.
func (c *sending) attach(data []byte) error {
	if n := len(data) / 4; len(c.files)+n > abi.SCM_MAX_FD {
		return sys.EINVAL
	}
	for ; len(data) >= 4; data = data[4:] {
		var fd int32
		copy(abi.Bytes(&fd), data)
		f, err := filesOf(c.t).Descriptors().Hold(int(fd))
		if err != nil {
			return err
		}
		c.files = append(c.files, f)
	}
	return nil
}

// tellControl stores the control messages that came with a message, as far as they fit. Files whose
// descriptors do not fit are closed.
func (c *receiving) tellControl(h *abi.Msghdr, r sock.Received) error {
	out := controlOut{t: c.t, addr: h.Control, left: h.Controllen}
	var err error
	if c.s.Options().PassCred {
		err = out.put(abi.SCM_CREDENTIALS, abi.Bytes(&r.Cred))
	}
	if len(r.Files) > 0 {
		err = cmp.Or(err, out.files(r.Files, c.flags&abi.MSG_CMSG_CLOEXEC != 0))
	}
	if out.cut {
		h.Flags |= abi.MSG_CTRUNC
	}
	h.Flags |= int32(c.flags & abi.MSG_CMSG_CLOEXEC)
	h.Controllen = out.used
	return err
}

// controlOut is the program's buffer for control messages.
type controlOut struct {
	t    *proc.Thread
	addr uint64
	left uint64
	used uint64
	cut  bool // something did not fit
}

// put stores one control message, or the start of it if it does not fit.
func (o *controlOut) put(kind int32, data []byte) error {
	if o.addr == 0 || o.left < abi.CmsghdrLen {
		o.cut = true
		return nil
	}
	size := uint64(abi.CmsghdrLen + len(data))
	if size > o.left {
		size, o.cut = o.left, true
	}
	head := abi.Cmsghdr{Len: size, Level: abi.SOL_SOCKET, Type: kind}
	if err := put(o.t, o.addr, head); err != nil {
		return err
	}
	if err := o.t.Memory().Out(o.addr+abi.CmsghdrLen, data[:size-abi.CmsghdrLen]); err != nil {
		return err
	}
	step := min((size+7)&^7, o.left)
	o.addr, o.left, o.used = o.addr+step, o.left-step, o.used+step
	return nil
}

// files gives files descriptors. Those that do not fit are closed.
func (o *controlOut) files(files []*vfs.File, closeOnExec bool) error {
	room := 0
	if o.addr != 0 && o.left > abi.CmsghdrLen {
		room = int(min((o.left-abi.CmsghdrLen)/4, abi.SCM_MAX_FD))
	}
	var numbers []byte
	for len(files) > 0 && len(numbers) < room*4 {
		fd, err := give(o.t, files[0], closeOnExec)
		files = files[1:]
		if err != nil {
			o.cut = true
			break
		}
		n := int32(fd)
		numbers = append(numbers, abi.Bytes(&n)...)
	}
	if len(files) > 0 {
		o.cut = true
		sock.CloseAll(files)
	}
	if len(numbers) == 0 {
		return nil
	}
	return o.put(abi.SCM_RIGHTS, numbers)
}
