printf '%s\n' a a b a | uniq; printf '%s\n' a a b a | uniq -c; printf '%s\n' a a b a | uniq -d
