package main

import (
	"bytes"
	"testing"

	"github.com/cilium/ebpf/btf"

	"sonde/qemu/machine"
)

// TestBTFOfTheRunningKernel takes /sys/kernel/btf/vmlinux out of the booted kernel, and looks for vfs.Read
// in it as a tool would. internal/image.TestBTF compares all functions.
func TestBTFOfTheRunningKernel(t *testing.T) {
	runsBeside(t)
	r := bootScript(t, normalImage, machine.Config{SMP: 2, Script: "cat /sys/kernel/btf/vmlinux"})
	spec, err := btf.LoadSpecFromReader(bytes.NewReader(r.Stdout))
	if err != nil {
		t.Fatalf("%v\n%s", err, said(r))
	}
	var read *btf.Func
	if err := spec.TypeByName("vfs_Read", &read); err != nil {
		t.Fatal(err)
	}
	proto := read.Type.(*btf.FuncProto)
	if len(proto.Params) < 2 || proto.Params[0].Name != "f" || proto.Params[1].Name != "p" {
		t.Errorf("vfs_Read takes %v", proto.Params)
	}
	if file, ok := proto.Params[0].Type.(*btf.Pointer).Target.(*btf.Struct); !ok || file.Name != "vfs_File" || len(file.Members) < 2 {
		t.Errorf("vfs_Read takes a %v", proto.Params[0].Type)
	}
	if result, ok := proto.Return.(*btf.Struct); !ok || len(result.Members) != 2 || result.Members[1].Offset.Bytes() != 8 {
		t.Errorf("vfs_Read returns %v", proto.Return)
	}
}
