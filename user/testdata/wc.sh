printf 'a b\nc' | wc -l; printf 'a b\nc' | wc -w; printf 'a b\nc' | wc -c
