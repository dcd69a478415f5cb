package kallsyms

// CheckCNames is checkCNames, for tests of the image, which cannot be in this package.
var CheckCNames = checkCNames
