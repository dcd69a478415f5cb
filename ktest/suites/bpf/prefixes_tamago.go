//go:build tamago

package bpf

import (
	"encoding/binary"

	"sonde/ktest/suites"
)

func init() { suites.Add("bpf/prefixes_while_others_change", prefixes) }

// routed looks up what its argument says in a trie, and counts whether it found what is always there. Then it
// adds or removes a prefix of which it is on the way.
const routed = `
	map routes lpm_trie 8 8 4096
	map found percpu_array 4 8 2
	r6 = *(u64 *)(r1 + 80)
	r7 = r6
	r7 &= 3
	*(u64 *)(r10 - 8) = 32
	*(u8 *)(r10 - 4) = r7
	*(u8 *)(r10 - 3) = 1
	*(u8 *)(r10 - 2) = 2
	*(u8 *)(r10 - 1) = 3
	*(u32 *)(r10 - 12) = 1
	r1 = map[idx:0]
	r2 = r10
	r2 += -8
	call 1
	if r0 == 0 goto count
	r1 = *(u64 *)(r0 + 0)
	if r1 != r7 goto count
	*(u32 *)(r10 - 12) = 0
count:	r1 = map[idx:1]
	r2 = r10
	r2 += -12
	call 1
	if r0 == 0 goto out
	r1 = *(u64 *)(r0 + 0)
	r1 += 1
	*(u64 *)(r0 + 0) = r1
	r8 = r6
	r8 >>= 2
	r8 %= 23
	r8 += 9
	*(u32 *)(r10 - 8) = r8
	r9 = r6
	r9 *= 0x1e3779b1
	r9 >>= 11
	r8 = r9
	r8 &= 0x303
	*(u16 *)(r10 - 2) = r8
	*(u64 *)(r10 - 24) = 99
	r1 = map[idx:0]
	r2 = r10
	r2 += -8
	r9 &= 0x10000
	if r9 == 0 goto remove
	r3 = r10
	r3 += -24
	r4 = 0
	call 2
	r0 = 0
	exit
remove:	call 3
out:	r0 = 0
	exit`

// prefixes: what is always in a trie is found at each hit, while programs and goroutines change what is on its way.
func prefixes(t *suites.T) {
	p := load(t, routed)
	defer p.close()
	routes := p.maps[0]
	key := func(bits uint32, a byte, more ...byte) []byte {
		return append(append(binary.LittleEndian.AppendUint32(nil, bits), a), append(more, 0, 0, 0)[:3]...)
	}
	for i := range byte(4) {
		t.Must(routes.Update(0, key(32, i, 1, 2, 3), key8(uint64(i)), 0))
	}
	calls, stop := callers()
	l := p.attach(t, pkg+"square", "ret:"+pkg+"cube")
	begin := calls.Load()
	for i := 0; calls.Load() < begin+20_000; i++ {
		bits := uint32(9 + i%23)
		t.Must(routes.Update(0, key(bits, byte(i%4), 1, 2, byte(i)&3), key8(99), 0))
		if i%2 == 0 {
			_ = routes.Delete(0, key(bits, byte(i%4), 1, 2, byte(i)&3))
		}
	}
	stop()
	l.Close()
	found, missed := uint64(0), uint64(0)
	for cpu := range p.maps[1].Tables() {
		for i, sum := range []*uint64{&found, &missed} {
			value := make([]byte, 8)
			t.Must(p.maps[1].Lookup(cpu, key4(uint32(i)), value))
			*sum += binary.LittleEndian.Uint64(value)
		}
	}
	if got := l.Ledger(); missed != 0 || found != got.Handled-p.Recursion() || got.Unexplained() != 0 {
		t.Errorf("%+v: found %d times, missed %d times", got, found, missed)
	}
	n := 0
	routes.Range(0, func([]byte, []byte) bool { n++; return true })
	scanned := 0
	for at, ok := routes.Scan(0, make([]byte, 8)); ok; at, ok = routes.Scan(at, make([]byte, 8)) {
		scanned++
	}
	if n != scanned || n < 4 {
		t.Errorf("%d prefixes, %d in order", n, scanned)
	}
}
