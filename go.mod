module sonde

go 1.26.5

require (
	github.com/cilium/ebpf v0.17.1
	github.com/google/pprof v0.0.0-20260604005048-7023385849c0
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724
	github.com/usbarmory/tamago v1.26.6
	golang.org/x/arch v0.32.0
	golang.org/x/image v0.30.0
	google.golang.org/protobuf v1.36.11
)

require (
	github.com/u-root/u-root v0.15.0
	go.bug.st/serial v1.6.4
	golang.org/x/term v0.32.0
	mvdan.cc/sh/v3 v3.12.0
	rsc.io/qr v0.2.0
)

require (
	github.com/creack/goselect v0.1.2 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	golang.org/x/sys v0.33.0 // indirect
)
