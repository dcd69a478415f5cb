package syscall

import (
	"bytes"
	"encoding/binary"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs/device"
	"sonde/linux/proc"
	"sonde/sysctl"
)

// System is the information about the machine that programs ask for. Written once at boot.
var System = struct {
	Version string                      // of the kernel, as uname -v
	CPUs    func() int                  // how many there are
	Memory  func() (total, free uint64) // bytes
	Loads   func() [3]float64           // of the last 1, 5 and 15 minutes

	HWCap, HWCap2 uint64 // what programs find as AT_HWCAP and AT_HWCAP2
}{
	CPUs:   func() int { return 1 },
	Memory: func() (uint64, uint64) { return 0, 0 },
	Loads:  func() [3]float64 { return [3]float64{} },
}

// Release is the release in uname -r. C libraries refuse to run on kernels that they consider too
// old.
const Release = "6.1.0-sonde"

// ReleaseCode is the same as LINUX_VERSION_CODE.
const ReleaseCode = 6<<16 | 1<<8

// Other fields of uname.
const (
	sysName   = "Linux"
	nameMax64 = 64 // of the next two
)

// Names that programs may set.
var (
	nodeName   = sysctl.NewString("kernel.hostname", "sonde", "the name of the machine, as uname -n prints it", shortEnough)
	domainName = sysctl.NewString("kernel.domainname", "(none)", "the NIS domain of the machine", shortEnough)
)

func shortEnough(name string) error {
	if len(name) > nameMax64 {
		return refusal.New(sys.EINVAL, "%d bytes, more than %d", len(name), nameMax64)
	}
	return nil
}

func sethostname(t *proc.Thread, a *Args) (uint64, error) { return setName(t, a, nodeName) }

func setdomainname(t *proc.Thread, a *Args) (uint64, error) { return setName(t, a, domainName) }

func setName(t *proc.Thread, a *Args, of *sysctl.String) (uint64, error) {
	if err := mayUse(t, capSystem); err != nil {
		return 0, err
	}
	n := asInt(a[1])
	if n < 0 || n > nameMax64 {
		return 0, sys.EINVAL
	}
	name := make([]byte, n)
	if err := t.Memory().In(name, a[0]); err != nil {
		return 0, err
	}
	name, _, _ = bytes.Cut(name, []byte{0})
	return done(of.Set(string(name)))
}

func uname(t *proc.Thread, a *Args) (uint64, error) {
	var u abi.Utsname
	copy(u.Sysname[:], sysName)
	copy(u.Nodename[:], nodeName.Get())
	copy(u.Release[:], releaseFor(t))
	copy(u.Version[:], System.Version)
	copy(u.Machine[:], "x86_64")
	copy(u.Domainname[:], domainName.Get())
	return done(put(t, a[0], u))
}

// releaseFor is Release or, for programs that expect a release in three parts, the one that Linux
// shows them: 6.1 is 2.6.61.
func releaseFor(t *proc.Thread) string {
	if persona(t, uname26) {
		return "2.6.61" + Release[len("6.1.0"):]
	}
	return Release
}

func sysinfo(t *proc.Thread, a *Args) (uint64, error) {
	total, free := System.Memory()
	var loads [3]uint64
	for i, l := range System.Loads() {
		loads[i] = uint64(l * (1 << 16))
	}
	_, threads, _ := t.Process().Table().Counts()
	return done(put(t, a[0], abi.Sysinfo{
		Uptime: int64(Uptime().Seconds()), TotalRAM: total, FreeRAM: free,
		Procs: uint16(min(threads, 0xffff)), Unit: 1, Loads: loads,
	}))
}

// schedGetaffinity returns the CPUs on which a thread may run.
func schedGetaffinity(t *proc.Thread, who *proc.Thread, a *Args) (uint64, error) {
	n := uint64(System.CPUs()+63) / 64 * 8
	if a[1] < n || a[1]&7 != 0 {
		return 0, sys.EINVAL
	}
	mask := make([]byte, n)
	cpus := who.Affinity()
	for cpu := range System.CPUs() {
		if cpus == 0 || cpus>>cpu&1 != 0 {
			mask[cpu/8] |= 1 << (cpu % 8)
		}
	}
	return n, t.Memory().Out(a[2], mask)
}

// schedSetaffinity binds a thread to CPUs; numbers of missing CPUs are ignored.
func schedSetaffinity(t *proc.Thread, who *proc.Thread, a *Args) (uint64, error) {
	var mask [4]byte // there are at most 32 CPUs
	if err := t.Memory().In(mask[:min(a[1], uint64(len(mask)))], a[2]); err != nil {
		return 0, err
	}
	all := uint32(1<<System.CPUs() - 1)
	switch cpus := binary.LittleEndian.Uint32(mask[:]) & all; cpus {
	case 0:
		return 0, sys.EINVAL
	case all:
		who.SetAffinity(0)
	default:
		who.SetAffinity(cpus)
	}
	return 0, nil
}

// threadOf returns the thread of a number; 0 is the caller's.
//
// Errors: ESRCH.
func threadOf(t *proc.Thread, tid uint64) (*proc.Thread, error) {
	if asInt(tid) == 0 {
		return t, nil
	}
	return t.Process().Table().FindThread(0, asInt(tid))
}

func getcpu(t *proc.Thread, a *Args) (uint64, error) {
	if err := putIf(t, a[0], uint32(t.CPU().Here())); err != nil {
		return 0, err
	}
	return done(putIf(t, a[1], uint32(0)))
}

// Flags of getrandom.
const randomFlags = 1 | 2 | 4

func getrandom(t *proc.Thread, a *Args) (total uint64, err error) {
	if a[2]&^randomFlags != 0 {
		return 0, sys.EINVAL
	}
	n := min(a[1], 32<<20-1)
	for total < n && err == nil && (total == 0 || !t.Wanted()) {
		err = withBuffer(t, n-total, func(b []byte) error {
			device.Random(b)
			put, err := t.Memory().CopyOut(a[0]+total, b)
			total += uint64(put)
			return err
		})
	}
	if total > 0 {
		err = nil
	}
	return total, err
}
