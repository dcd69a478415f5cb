//go:build tamago

package bpf

import (
	"encoding/binary"
	"strconv"

	"sonde/ktest/suites"
)

func init() {
	suites.Add("bpf/elements", elements)
	suites.Add("bpf/records", records)
	suites.Add("bpf/keys", keys)
	suites.Add("bpf/records_around_the_end", around)
}

// elements: lookups that are put into the program, by an index that may be outside.
func elements(t *suites.T) {
	for _, kind := range []string{"array", "percpu_array"} {
		for _, size := range []string{"8", "24"} {
			p := load(t, `
				map seen `+kind+` 4 `+size+` 5
				r6 = *(u64 *)(r1 + 80)
				*(u32 *)(r10 - 4) = r6
				r1 = map[idx:0]
				r2 = r10
				r2 += -4
				call 1
				if r0 == 0 goto out
				r1 = 1
				lock *(u64 *)(r0 + 0) += r1
			out:	r0 = 0
				exit`)
			l := p.attach(t, pkg+"square")
			for i := range uint64(70) {
				square(i % 7)
				square(1<<31 + i)
				square(^i)
			}
			l.Close()
			for i := range uint32(5) {
				if n := word(t, p.maps[0], key4(i)); n != 10 {
					t.Errorf("%s of %s bytes: element %d is %d", kind, size, i, n)
				}
			}
			p.close()
		}
	}
}

// records: a record of a ring for each call, in one piece or piecewise; some are given up.
func records(t *suites.T) {
	p := load(t, `
		map out ringbuf 0 0 65536
		r6 = *(u64 *)(r1 + 80)
		*(u64 *)(r10 - 16) = r6
		*(u64 *)(r10 - 8) = r6
		r1 = map[idx:0]
		r2 = r10
		r2 += -16
		r3 = 16
		r4 = 0
		call 130
		r1 = map[idx:0]
		r2 = 24
		r3 = 0
		call 131
		if r0 == 0 goto out
		*(u64 *)(r0 + 0) = r6
		r1 = r0
		r2 = 0
		r6 &= 1
		if r6 == 0 goto even
		call 132
		goto out
	even:	call 133
	out:	r0 = 0
		exit`)
	defer p.close()
	l := p.attach(t, pkg+"square")
	const n = 300
	for i := range uint64(n) {
		square(i)
	}
	l.Close()
	whole, pieces := 0, 0
	for {
		rec, ok := p.maps[0].Take(nil)
		if !ok {
			break
		}
		v := binary.LittleEndian.Uint64(rec.Data)
		switch {
		case len(rec.Data) == 16 && binary.LittleEndian.Uint64(rec.Data[8:]) == v:
			whole++
		case len(rec.Data) == 24 && v%2 == 1:
			pieces++
		default:
			t.Errorf("record %x", rec.Data)
		}
	}
	if whole != n || pieces != n/2 || p.maps[0].Lost() != 0 {
		t.Errorf("%d and %d records of %d calls, %d lost", whole, pieces, n, p.maps[0].Lost())
	}
}

// keys: a hash that programs fill, change and empty.
func keys(t *suites.T) {
	for _, kind := range []string{"hash", "percpu_hash", "lru_hash", "lru_percpu_hash"} {
		p := load(t, `
			map calls `+kind+` 8 8 64
			r6 = *(u64 *)(r1 + 80)
			*(u64 *)(r10 - 8) = r6
			r1 = map[idx:0]
			r2 = r10
			r2 += -8
			call 1
			if r0 == 0 goto new
			r1 = 1
			lock *(u64 *)(r0 + 0) += r1
			if r6 != 7 goto out
			r1 = map[idx:0]
			r2 = r10
			r2 += -8
			call 3
			goto out
		new:	*(u64 *)(r10 - 16) = 1
			r1 = map[idx:0]
			r2 = r10
			r2 += -8
			r3 = r10
			r3 += -16
			r4 = 0
			call 2
		out:	r0 = 0
			exit`)
		l := p.attach(t, pkg+"square")
		for i := range uint64(400) {
			square(i % 10)
		}
		l.Close()
		sum := uint64(0)
		for i := range uint64(10) {
			if i != 7 {
				sum += word(t, p.maps[0], key8(i))
			}
		}
		if sum != 9*40 || p.maps[0].Tables() == 1 && word(t, p.maps[0], key8(7)) != 0 {
			t.Errorf("%s: %d calls, and %d of 7", kind, sum, word(t, p.maps[0], key8(7)))
		}
		p.close()
	}
}

// around: a small ring, where records of several sizes come to the end of the memory again and again, and at
// times find no room. Each call has one, or is lost.
func around(t *suites.T) {
	for _, size := range []string{"8", "24", "40", "104", "488"} {
		p := load(t, `
			map out ringbuf 0 0 1024
			r6 = *(u64 *)(r1 + 80)
			r1 = map[idx:0]
			r2 = `+size+`
			r3 = 0
			call 131
			if r0 == 0 goto out
			*(u64 *)(r0 + 0) = r6
			r1 = r0
			r2 = 0
			call 132
		out:	r0 = 0
			exit`)
		l := p.attach(t, pkg+"square")
		const n = 400
		seen, next := uint64(0), uint64(0)
		take := func() {
			rec, ok := p.maps[0].Take(nil)
			if !ok {
				return
			}
			if v := binary.LittleEndian.Uint64(rec.Data); strconv.Itoa(len(rec.Data)) != size || v < next || v >= n {
				t.Errorf("%s bytes: record %x after %d", size, rec.Data, next)
			} else {
				next = v + 1
			}
			seen++
		}
		for i := range uint64(n) {
			square(i)
			if i%100 < 60 {
				take()
			}
		}
		l.Close()
		for before := ^uint64(0); before != seen; {
			before = seen
			take()
		}
		if lost := p.maps[0].Lost(); seen+lost != n || seen < 100 || size != "8" && lost == 0 {
			t.Errorf("%s bytes: %d records, %d lost, of %d calls", size, seen, lost, n)
		}
		p.close()
	}
}
