package frame

// Kernel is the pool of this machine's frames.
var Kernel = NewPool(kernelSource)
