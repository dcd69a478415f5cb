package proc

import (
	"encoding/binary"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/linux/signal"
)

// redZone is how many bytes below SP a function may use without moving SP.
// Source: System V ABI, AMD64 supplement, "The Stack Frame".
const redZone = 128

// Flags that a handler may change for the program, and those cleared for it.
const (
	userFlags = amd64.RFLAGS_CF | amd64.RFLAGS_PF | amd64.RFLAGS_AF | amd64.RFLAGS_ZF | amd64.RFLAGS_SF |
		amd64.RFLAGS_TF | amd64.RFLAGS_DF | amd64.RFLAGS_OF | amd64.RFLAGS_RF | amd64.RFLAGS_AC
	clearFlags = amd64.RFLAGS_TF | amd64.RFLAGS_DF | amd64.RFLAGS_RF
)

// pushFrame puts the frame of the signal in t.info on the program's stack, and sets the registers for
// the handler. mask is the set that is blocked again when the handler ends.
//
// Errors: EFAULT where the stack cannot be written to, EINVAL without a restorer.
func (t *Thread) pushFrame(act abi.Sigaction, mask signal.Set) error {
	if act.Flags&abi.SA_RESTORER == 0 || act.Handler >= userEnd {
		return syscall.EINVAL
	}
	r := t.Regs()
	sp, stack := r.SP-redZone, t.AltStack()
	if s := t.altStack; act.Flags&abi.SA_ONSTACK != 0 && s.Size != 0 && !t.onAltStack(r.SP) {
		sp = s.SP + s.Size
	}
	image, flags := t.fpFrame()
	fp := (sp - uint64(len(image))) &^ 63
	at := (fp-frameSize)&^15 - 8
	if t.onAltStack(sp) && at < t.altStack.SP {
		return syscall.EFAULT // it does not fit
	}
	var f abi.Sigframe // filled in place: a literal would be copied
	f.Restorer, f.Info = act.Restorer, t.info
	u, c := &f.Context, &f.Context.Context
	u.Flags, u.Stack, u.Mask = flags, stack, uint64(mask)
	save(c, r)
	c.CR2, c.Oldmask, c.FPState = t.faulted, uint64(mask), fp
	mem := t.Memory()
	if err := mem.Out(fp, image); err != nil {
		return err
	}
	if err := mem.Out(at, abi.Bytes(&f)); err != nil {
		return err
	}
	if t.altStack.Flags&abi.SS_AUTODISARM != 0 {
		t.altStack = abi.Stack{}
	}
	t.cpu.ResetFP()
	enterHandler(r, at, act.Handler, uint64(t.info.Signo))
	return nil
}

// The parts of a frame, in bytes.
const (
	frameSize   = 440
	contextAt   = 8
	siginfoAt   = 312
	restorerLen = 8
)

// enterHandler sets the registers for handler(sig, info, context).
func enterHandler(r *amd64.Regs, frame, handler, sig uint64) {
	r.DI, r.SI, r.DX = sig, frame+siginfoAt, frame+contextAt
	r.AX = 0 // for variadic handlers: no vector registers hold arguments
	r.SP, r.IP = frame, handler
	r.Flags &^= clearFlags
}

// save is the reverse of restore.
func save(c *abi.Sigcontext, r *amd64.Regs) {
	c.R8, c.R9, c.R10, c.R11, c.R12, c.R13, c.R14, c.R15 = r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15
	c.DI, c.SI, c.BP, c.BX, c.DX, c.AX, c.CX, c.SP, c.IP = r.DI, r.SI, r.BP, r.BX, r.DX, r.AX, r.CX, r.SP, r.IP
	c.Flags, c.CS, c.SS, c.Err, c.Trapno = r.Flags, uint16(r.CS), uint16(r.SS), r.Err, r.Vector
}

// SigReturn ends a handler: it restores the registers, mask and stack of the frame. An
// invalid frame ends in SIGSEGV.
//
// Context: t's goroutine, in the system call rt_sigreturn.
func (t *Thread) SigReturn() {
	if err := t.popFrame(); err != nil {
		t.force(SignalOf(abi.SIGSEGV), false)
	}
}

func (t *Thread) popFrame() error {
	r, mem := t.Regs(), t.Memory()
	var f abi.Sigframe
	if err := mem.In(abi.Bytes(&f), r.SP-restorerLen); err != nil {
		return err
	}
	c := &f.Context.Context
	if c.IP >= userEnd {
		return syscall.EFAULT
	}
	if err := t.popFP(c.FPState); err != nil {
		return err
	}
	restore(r, c)
	t.altStack = f.Context.Stack
	if t.altStack.Flags &= abi.SS_AUTODISARM; f.Context.Stack.Flags&abi.SS_DISABLE != 0 {
		t.altStack = abi.Stack{}
	}
	t.SetBlocked(signal.Set(f.Context.Mask))
	return nil
}

func restore(r *amd64.Regs, c *abi.Sigcontext) {
	r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15 = c.R8, c.R9, c.R10, c.R11, c.R12, c.R13, c.R14, c.R15
	r.DI, r.SI, r.BP, r.BX, r.DX, r.AX, r.CX, r.SP, r.IP = c.DI, c.SI, c.BP, c.BX, c.DX, c.AX, c.CX, c.SP, c.IP
	r.Flags = r.Flags&^userFlags | c.Flags&userFlags
}

// fpFrame returns the floating-point state as a handler finds it, and the flags that say so: an
// image of XSAVE is between two magic words. The image is valid until the program runs.
func (t *Thread) fpFrame() (image []byte, flags uint64) {
	flags = abi.UC_SIGCONTEXT_SS | abi.UC_STRICT_RESTORE_SS
	image = t.cpu.FP()
	if len(image) == abi.FPSize {
		return image, flags
	}
	whole.Put(image)
	return binary.LittleEndian.AppendUint32(image, abi.FP_XSTATE_MAGIC2), flags | abi.UC_FP_XSTATE
}

// popFP sets the floating-point state to that at an address, 0: to the initial one. An image that
// is not between its magic words is FXSAVE's, as far as Linux is concerned, too.
//
// Errors: EFAULT it cannot be read; EINVAL it is no valid state.
func (t *Thread) popFP(at uint64) error {
	const fxAlign, xAlign = 16, 64
	switch {
	case at == 0:
		t.cpu.ResetFP()
		return nil
	case at%fxAlign != 0:
		return syscall.EINVAL
	}
	room, size, mem := t.fpRoom[:], t.cpu.FPSize(), t.Memory()
	if size == abi.FPSize {
		if err := mem.In(room[:size], at); err != nil {
			return err
		}
		return t.cpu.SetFP(room[:size])
	}
	if mem.In(room, at) == nil && abi.FPFrameOf(room) == whole && binary.LittleEndian.Uint32(room[size:]) == abi.FP_XSTATE_MAGIC2 && at%xAlign == 0 {
		return t.cpu.SetFP(room[:size]) // as it was pushed
	}
	if err := mem.In(room[:abi.FPSize], at); err != nil {
		return err
	}
	f := abi.FPFrameOf(room)
	switch ok, err := t.framed(f, at); {
	case err != nil:
		return err
	case !ok:
		size = abi.FPSize
	case at%xAlign != 0:
		return syscall.EINVAL
	default:
		if err := t.popUpper(f, at, room[:size]); err != nil {
			return err
		}
	}
	return t.cpu.SetFP(room[:size])
}

// whole is what a frame says that has all of an XSAVE image.
var whole = abi.FPFrame{
	Magic: abi.FP_XSTATE_MAGIC1, FrameSize: abi.XSize + abi.FPMagicSize, Components: abi.XCR0, Size: abi.XSize,
}

// framed reports whether an image of XSAVE is at an address, by what is before and after it.
func (t *Thread) framed(f abi.FPFrame, at uint64) (bool, error) {
	if f.Magic != whole.Magic || f.Size < abi.FPSize+abi.XHeaderSize || f.Size > abi.XSize || f.Size > f.FrameSize {
		return false, nil
	}
	var magic [abi.FPMagicSize]byte
	err := t.Memory().In(magic[:], at+uint64(f.Size))
	return binary.LittleEndian.Uint32(magic[:]) == abi.FP_XSTATE_MAGIC2, err
}

// popUpper reads the rest of an image. What the frame does not say is there is not.
func (t *Thread) popUpper(f abi.FPFrame, at uint64, image []byte) error {
	mem := t.Memory()
	header := image[abi.FPSize : abi.FPSize+abi.XHeaderSize]
	if err := mem.In(header, at+abi.FPSize); err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(header)&^abi.XCR0 != 0 {
		return syscall.EINVAL
	}
	header[0] &= byte(f.Components)
	if header[0]&abi.XCR0_AVX == 0 {
		return nil
	}
	rest := abi.FPSize + abi.XHeaderSize
	return mem.In(image[rest:], at+uint64(rest))
}
