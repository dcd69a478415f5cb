package squeeze

// limit is the largest argument of squash, in 256ths: 12.
const limit = 12<<8 - 1

// curve is 65536/(1+exp(-x/2)) for x from -24 to 24.
var curve = [...]int32{0, 1, 1, 2, 3, 5, 8, 13, 22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971, 7812,
	11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097, 65269, 65374,
	65438, 65476, 65500, 65514, 65523, 65528, 65531, 65533, 65534, 65535, 65535, 65536}

// squash returns how likely x is, the logarithm of the odds in 256ths. It is never certain.
func squash(x int32) int32 {
	const step, surest = 128, 16
	x += limit + 1
	i, part := x/step, x%step
	p := (curve[i]*(step-part) + curve[i+1]*part) / step
	return max(surest, min(1<<16-surest, p))
}
