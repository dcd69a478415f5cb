package sysbpf

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"syscall"

	"sonde/bpf/btf"
	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/types"
)

// btfObject is types that a process has loaded, or the kernel's.
type btfObject struct {
	id     int
	data   []byte
	table  *btf.Table
	kernel bool

	uses int // guarded by btfs: descriptors, and programs and maps whose types it describes
}

// btfs are all, by the number. That of the kernel's is 1, and is there from the first look on.
var btfs struct {
	sync.Mutex
	last int
	all  map[int]*btfObject
}

const kernelBTF = 1

// needKernelBTF makes the kernel's types one of btfs. Called with its lock held.
func needKernelBTF() {
	if btfs.all != nil {
		return
	}
	btfs.last, btfs.all = kernelBTF, map[int]*btfObject{}
	if data, err := types.BTF(); err == nil {
		btfs.all[kernelBTF] = &btfObject{id: kernelBTF, data: data, kernel: true, uses: 1}
	}
}

// add gives types a number, and a use to the caller.
func (b *btfObject) add() {
	btfs.Lock()
	defer btfs.Unlock()
	needKernelBTF()
	btfs.last++
	b.id, b.uses = btfs.last, 1
	btfs.all[b.id] = b
}

// hold adds a use, drop ends one. nil has none.
func (b *btfObject) hold() *btfObject {
	if b != nil {
		btfs.Lock()
		defer btfs.Unlock()
		b.uses++
	}
	return b
}

func (b *btfObject) drop() {
	if b == nil {
		return
	}
	btfs.Lock()
	defer btfs.Unlock()
	if b.uses--; b.uses == 0 {
		delete(btfs.all, b.id)
		giveRoom(len(b.data))
	}
}

// btfIDs returns the numbers of all, ascending.
func btfIDs() []int {
	btfs.Lock()
	defer btfs.Unlock()
	needKernelBTF()
	return slices.Sorted(maps.Keys(btfs.all))
}

// btfByID returns types with a use for the caller.
//
// Errors: ENOENT.
func btfByID(id int) (*btfObject, error) {
	btfs.Lock()
	defer btfs.Unlock()
	needKernelBTF()
	b := btfs.all[id]
	if b == nil {
		return nil, refusal.New(syscall.ENOENT, "there is no BTF %d", id)
	}
	b.uses++
	return b, nil
}

// btfFile is a descriptor of types. It implements vfs.Handle and vfs.Describer.
type btfFile struct {
	file
	b *btfObject
}

func (f *btfFile) Close() error {
	f.b.drop()
	return nil
}

func (f *btfFile) Describe(w io.Writer) { fmt.Fprintf(w, "btf_id:\t%d\n", f.b.id) }

// installBTF gives types a descriptor, which takes over the caller's use.
func (c *call) installBTF(b *btfObject) (uint64, error) {
	h := &btfFile{file: file{Anonymous: vfs.NewAnonymous(anonymous)}, b: b}
	return c.Install(vfs.NewFile("anon_inode:btf", h, h, abi.O_RDONLY))
}

// holdBTF returns the types of a descriptor with a use for the caller.
//
// Errors: EBADF; EINVAL the file is another one.
func (c *call) holdBTF(fd int) (*btfObject, error) {
	f, err := c.Hold(fd)
	if err != nil {
		return nil, err
	}
	defer vfs.Close(f)
	if h, ok := f.Handle().(*btfFile); ok {
		return h.b.hold(), nil
	}
	return nil, refusal.New(syscall.EINVAL, "descriptor %d is no BTF", fd)
}

// btfMost is how many bytes of types a process can load.
const btfMost = 16 << 20

// btfLoad is BTF_LOAD: btf 0, btf_log_buf 8, btf_size 16, btf_log_size 20, btf_log_level 24, btf_log_true_size 28.
func btfLoad(c *call) (uint64, error) {
	l, err := c.newLog(c.u32(24), c.u32(20), c.u64(8), 28)
	if err != nil {
		return 0, err
	}
	size := c.u32(16)
	if size > btfMost {
		return 0, refusal.New(syscall.E2BIG, "%d bytes of BTF: at most %d", size, btfMost)
	}
	if err := takeRoom(int(size)); err != nil {
		return 0, err
	}
	b, err := c.readBTF(l, int(size))
	if err != nil {
		giveRoom(int(size))
		return 0, err
	}
	b.add()
	return c.installBTF(b)
}

// readBTF copies types and reads them.
func (c *call) readBTF(l *log, size int) (*btfObject, error) {
	data, err := c.in(c.u64(0), size)
	if err != nil {
		return nil, err
	}
	t, err := btf.Read(data)
	if err != nil {
		return nil, l.write(err.Error()+"\n", err)
	}
	return &btfObject{data: data, table: t}, l.write("", nil)
}

// setBTF notes by which types keys and values are described: btf_fd 48.
func (s *mapState) setBTF(c *call) error {
	if s.key == 0 && s.value == 0 {
		return nil
	}
	b, err := c.holdBTF(c.fd(48))
	if err != nil {
		return err
	}
	if s.value == 0 || b.kernel || b.table.Type(btf.ID(s.key)) == nil || b.table.Type(btf.ID(s.value)) == nil {
		b.drop()
		return refusal.New(syscall.EINVAL, "types %d and %d of BTF %d: they are not there", s.key, s.value, b.id)
	}
	s.btf = b
	return nil
}
