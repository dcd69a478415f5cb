//go:build tamago

package bpf

import (
	"encoding/binary"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"sonde/bpf"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/ktest/suites"
	"sonde/probe/attach"
	"sonde/probe/task"
)

func init() {
	suites.Add("bpf/helpers_that_tell", tells)
	suites.Add("bpf/cookies", cookies)
	suites.Add("bpf/histograms_and_sums", sums)
	suites.Add("bpf/strings_of_the_kernel", kernelStrings)
	suites.Add("bpf/watched_values", watchedValues)
}

// asks is a program that stores what each of some helpers returns. R1 is the context for all.
func asks(helpers ...string) string {
	text := "map seen array 4 " + strconv.Itoa(8*len(helpers)) + " 1\nr6 = r1\n"
	for i, call := range helpers {
		text += "r1 = r6\n" + call + "\nr7 = map[idx:0][0]+0\n*(u64 *)(r7 + " + strconv.Itoa(8*i) + ") = r0\n"
	}
	return text + "r0 = 0\nexit"
}

func ours(n int) string { return "call " + strconv.Itoa(n) }

// seen is what such a program has stored.
func (p *loaded) seen(t *suites.T, n int) []uint64 {
	value := make([]byte, 8*n)
	t.Must(p.maps[0].Lookup(0, key4(0), value))
	words := make([]uint64, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(value[8*i:])
	}
	return words
}

// isTaskOf reports whether there is what tools see of a goroutine that runs for no process.
func isTaskOf(at uint64, g unsafe.Pointer) bool {
	const kernelThread, low = 0x400000, 1<<30 - 1
	t := *(**task.Task)(unsafe.Pointer(&at))
	return uint64(t.PID) == kernelThread+goruntime.Goid(g)&low && t.Comm[0] == 'k' && t.Comm[6] == 0 && t.Parent == nil && t.Entity.Queue.Running >= 1
}

func tells(t *suites.T) {
	p := load(t, asks("call 7", "call 35", "call 80", "call 118", "call 160", "call 173", ours(bpf.HelperGoid), ours(bpf.HelperGCPhase), ours(bpf.HelperGCNum),
		"r2 = 0\n"+ours(bpf.HelperArg), "r1 = 77\n"+ours(bpf.HelperLog2)))
	defer p.close()
	l := p.attach(t, pkg+"square")
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	square(31)
	got := p.seen(t, 11)
	first := got[0]
	square(31)
	now := uint64(cpu.Nanotime())
	g := goruntime.Self()
	for i, ok := range []bool{
		first != p.seen(t, 11)[0] && first < 1<<32, isTaskOf(got[1], g), got[2] == 1, now/1e7-got[3] < 6000, got[4] < now,
		got[5] == l.Places()[0].Addr, got[6] == goruntime.Goid(g), got[7] <= 2, got[8]-uint64(before.NumGC) < 10, got[9] == 31, got[10] == uint64(bpf.Bucket(77)),
	} {
		if !ok {
			t.Errorf("helper %d of the list: %#x", i, got[i])
		}
	}
}

// cookies: a program tells its places apart by what each was given.
func cookies(t *suites.T) {
	p := load(t, asks("call 174", "call 185"))
	defer p.close()
	var sites []attach.Site
	for i, place := range []string{pkg + "square", "ret:" + pkg + "cube", pkg + "cube"} {
		s, err := attach.ParseSite(place)
		t.Must(err)
		s.Cookie = uint64(i) << 40
		sites = append(sites, s)
	}
	l, err := p.Attach(sites, nil)
	t.Must(err)
	defer l.Close()
	square(2)
	if got := p.seen(t, 2); got[0] != 0 || got[1] != 9 {
		t.Errorf("square: cookie %#x, %d words", got[0], got[1])
	}
	cube(2)
	if got := p.seen(t, 2); got[0] != 1<<40 {
		t.Errorf("cube returns: cookie %#x", got[0])
	}
	entry := p.attach(t, pkg+"square+0x4") // a link without cookies
	defer entry.Close()
	square(2)
	if got := p.seen(t, 2); got[0] != 0 {
		t.Errorf("a place without: cookie %#x", got[0])
	}
}

// sums: a histogram and an aggregate of all arguments, by all CPUs.
func sums(t *suites.T) {
	p := load(t, `
		map hist percpu_hash 8 520 16
		map sum percpu_array 4 32 1
		map other percpu_array 4 520 3
		r6 = *(u64 *)(r1 + 80)
		*(u64 *)(r10 - 8) = 5
		r1 = map[idx:0]
		r2 = r10
		r2 += -8
		r3 = r6
		`+ours(bpf.HelperHistAdd)+`
		*(u32 *)(r10 - 4) = 0
		r1 = map[idx:1]
		r2 = r10
		r2 += -4
		r3 = r6
		`+ours(bpf.HelperAggAdd)+`
		*(u32 *)(r10 - 4) = r6
		r1 = map[idx:2]
		r2 = r10
		r2 += -4
		r3 = r6
		`+ours(bpf.HelperHistAdd)+`
		*(u32 *)(r10 - 4) = 1
		r1 = map[idx:2]
		r2 = r10
		r2 += -4
		r3 = r6
		r3 += -100
		`+ours(bpf.HelperHistAdd)+`
		r0 = 0
		exit`)
	defer p.close()
	l := p.attach(t, pkg+"square")
	square(2)
	want := bpf.Aggregate{Count: 1, Sum: 2, Min: 2, Max: 202}
	var buckets, other [bpf.HistBuckets]uint64
	other[bpf.Bucket(2)] = 1 // the only argument that is an index, but for 1, which does not come
	buckets[bpf.Bucket(2)]++
	other[bpf.Bucket(2-100)]++
	for i := range int64(200) {
		other[bpf.Bucket(i+3-100)]++
		square(uint64(i + 3))
		want.Count++
		want.Sum += i + 3
		buckets[bpf.Bucket(i+3)]++
	}
	l.Close()
	got := bpf.Aggregate{Min: 1 << 62}
	value := make([]byte, 8*bpf.HistBuckets)
	for c := range p.maps[0].Tables() {
		if p.maps[0].Lookup(c, key8(5), value) == nil {
			for i := range buckets {
				buckets[i] -= binary.LittleEndian.Uint64(value[8*i:])
			}
		}
		for key := range uint32(3) {
			t.Must(p.maps[2].Lookup(c, key4(key), value))
			for i := range other {
				other[i] -= binary.LittleEndian.Uint64(value[8*i:])
			}
		}
		t.Must(p.maps[1].Lookup(c, key4(0), value[:bpf.AggregateSize]))
		word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(value[8*i:])) }
		if word(0) > 0 {
			got.Count += uint64(word(0))
			got.Sum += word(1)
			got.Min, got.Max = min(got.Min, word(2)), max(got.Max, word(3))
		}
	}
	if got != want || buckets != [bpf.HistBuckets]uint64{} || other != buckets {
		t.Errorf("%+v, want %+v; buckets differ by %v and %v", got, want, buckets, other)
	}
}

//go:noinline
func named(s string) int { return len(s) }

// kernelStrings: a Go string has no end of its own; the program cuts it by its length.
func kernelStrings(t *suites.T) {
	p := load(t, `
		map seen array 4 32 1
		r3 = *(u64 *)(r1 + 80)
		r2 = *(u64 *)(r1 + 40)
		r2 &= 15
		r2 += 1
		r1 = map[idx:0][0]+8
		call 115
		r1 = map[idx:0][0]+0
		*(u64 *)(r1 + 0) = r0
		r0 = 0
		exit`)
	defer p.close()
	l := p.attach(t, pkg+"named")
	defer l.Close()
	text := strings.Clone("hello, probes")
	named(text)
	value := make([]byte, 32)
	t.Must(p.maps[0].Lookup(0, key4(0), value))
	if n := binary.LittleEndian.Uint64(value); n != uint64(len(text)+1) || string(value[8:8+n]) != text+"\x00" {
		t.Errorf("%d bytes: %q", n, value[8:])
	}
}

func watchedValues(t *suites.T) {
	p := load(t, asks(ours(bpf.HelperWatchOld), ours(bpf.HelperWatchNew)))
	defer p.close()
	watched = 5
	l := p.attach(t, "w@"+pkg+"watched")
	defer l.Close()
	watched = 9
	if got := p.seen(t, 2); got[0] != 5 || got[1] != 9 {
		t.Errorf("%d became %d, and 5 became 9", got[0], got[1])
	}
}
