package frame

// Kernel has the frames of this machine.
var Kernel = NewPool(kernelSource)
